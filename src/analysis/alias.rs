//! What addresses are made of, which slots escape, and which memory accesses can touch the same
//! bytes.
//!
//! An address is a base plus an offset. Walking chains of additions of constants gives it for every
//! temporary in one sweep. A slot *escapes* if its address goes anywhere but into loads, stores,
//! blits, comparisons and further additions: then calls and pointers from elsewhere may reach it.
//! The answer is for the whole function, not for a point in it.

use super::cfg::Cfg;
use crate::index::{BitSet, IndexVec};
use crate::ir::{
    AbiType, Class, Const, Function, Inst, Jump, Module, Op, Ref, SlotId, SymbolId, TempId, Value,
};

/// What an address is relative to.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// Nothing: the offset is the address.
    Absolute,
    Slot(SlotId),
    Symbol(SymbolId),
    /// The value of a temporary, about which nothing is known.
    Temp(TempId),
}

/// An address: base and offset; no offset if it is only known to be made from the base.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    pub base: Base,
    pub offset: Option<i64>,
}

impl Address {
    /// The address so many bytes on.
    pub fn plus(self, bytes: i64) -> Address {
        Address { base: self.base, offset: self.offset.map(|o| o.wrapping_add(bytes)) }
    }
}

/// How two accesses stand to each other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Relation {
    /// They have no byte in common.
    Apart,
    /// They may have.
    Unknown,
    /// The second starts so many bytes after the first, and they have a byte in common.
    Overlap(i64),
}

/// Addresses of temporaries and what escapes.
#[derive(Clone, Debug)]
pub struct Alias {
    addresses: IndexVec<TempId, Option<Address>>,
    escaped: BitSet<SlotId>,
    /// A symbol is spelled in quotes: to an assembler that may be another symbol of the function.
    quoted: bool,
}

impl Alias {
    /// `f` must be in SSA form.
    pub fn new(f: &Function, cfg: &Cfg, module: &Module) -> Alias {
        let mut alias = Alias {
            addresses: IndexVec::filled(None, f.temps.len()),
            escaped: BitSet::new(f.slots.len()),
            quoted: f.consts.iter().any(|c| {
                matches!(c, Const::Symbol { symbol, .. }
                    if module.symbols.name(*symbol).starts_with(b"\""))
            }),
        };
        for &b in &cfg.rpo {
            let block = &f.blocks[b];
            for inst in &block.insts {
                if let (Some(to), Class::L) = (inst.to, inst.class) {
                    alias.addresses[to] = alias.derived(f, inst);
                }
                alias.escapes(f, inst);
            }
            match block.jump {
                // The callee of a function returning an aggregate reads the bytes, no more.
                Jump::Ret(_) if matches!(f.ret, Some(AbiType::Aggregate(_))) => {}
                Jump::Ret(r) => alias.escape(r),
                Jump::Jnz(..) | Jump::Jmp(_) | Jump::Hlt => {}
            }
        }
        // Arguments of phis may come from below.
        for &b in &cfg.rpo {
            for phi in &f.blocks[b].phis {
                phi.args.iter().for_each(|&(_, r)| alias.escape(r));
            }
        }
        alias
    }

    /// The address that `r` is.
    pub fn address(&self, f: &Function, r: Ref) -> Address {
        let (base, offset) = match r.value() {
            Value::Temp(t) => {
                return self.addresses[t]
                    .unwrap_or(Address { base: Base::Temp(t), offset: Some(0) });
            }
            Value::Slot(s) => (Base::Slot(s), 0),
            Value::Int(i) => (Base::Absolute, i64::from(i)),
            Value::Const(_) => match f.symbol_of(r) {
                Some((symbol, _, offset)) => (Base::Symbol(symbol), offset),
                None => (Base::Absolute, f.bits(r).unwrap_or(0) as i64),
            },
            Value::None | Value::Call(_) => panic!("not an address"),
        };
        Address { base, offset: Some(offset) }
    }

    /// The slot that `r` points into, if it is known to be made from a slot's address.
    pub fn slot(&self, r: Ref) -> Option<SlotId> {
        match r.value() {
            Value::Slot(s) => Some(s),
            Value::Temp(t) => match self.addresses[t] {
                Some(Address { base: Base::Slot(s), .. }) => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether what this function does not see may reach the slot.
    pub fn is_escaped(&self, s: SlotId) -> bool {
        self.escaped.contains(s)
    }

    /// Whether a call can read or write at the address.
    pub fn is_reachable_by_calls(&self, address: Address) -> bool {
        match address.base {
            Base::Slot(s) => self.is_escaped(s),
            Base::Absolute | Base::Symbol(_) | Base::Temp(_) => true,
        }
    }

    /// How an access of `n` bytes at `a` stands to one of `m` bytes at `b`.
    pub fn relation(&self, a: Address, n: u64, b: Address, m: u64) -> Relation {
        if a.base == b.base {
            let (Some(x), Some(y)) = (a.offset, b.offset) else { return Relation::Unknown };
            let distance = i128::from(y) - i128::from(x);
            return match i64::try_from(distance) {
                Ok(d) if distance < i128::from(n) && distance > -i128::from(m) => {
                    Relation::Overlap(d)
                }
                // Addresses are modulo 2^64; far apart is not worth a thought.
                Err(_) => Relation::Unknown,
                Ok(_) => Relation::Apart,
            };
        }
        let hidden = |base| matches!(base, Base::Slot(s) if !self.is_escaped(s));
        if hidden(a.base) || hidden(b.base) {
            return Relation::Apart;
        }
        let fixed = |address: Address| {
            address.offset.is_some() && matches!(address.base, Base::Slot(_) | Base::Symbol(_))
        };
        match fixed(a) && fixed(b) && !self.quoted {
            true => Relation::Apart,
            false => Relation::Unknown,
        }
    }

    /// What `inst` computes, if that is an address made from another.
    fn derived(&self, f: &Function, inst: &Inst) -> Option<Address> {
        let [x, y, _] = inst.args;
        match inst.op {
            Op::Copy => Some(self.address(f, x)),
            Op::Add => match (f.bits(x), f.bits(y)) {
                (_, Some(bits)) => Some(self.address(f, x).plus(bits as i64)),
                (Some(bits), None) => Some(self.address(f, y).plus(bits as i64)),
                (None, None) => {
                    let (a, b) = (self.address(f, x).base, self.address(f, y).base);
                    let object = |base| matches!(base, Base::Slot(_) | Base::Symbol(_));
                    match (object(a), object(b)) {
                        (true, false) => Some(Address { base: a, offset: None }),
                        (false, true) => Some(Address { base: b, offset: None }),
                        _ => None,
                    }
                }
            },
            Op::Sub => match f.bits(y) {
                Some(bits) => Some(self.address(f, x).plus((bits as i64).wrapping_neg())),
                None => {
                    let object =
                        |r| matches!(self.address(f, r).base, Base::Slot(_) | Base::Symbol(_));
                    let base = self.address(f, x).base;
                    (object(x) && !object(y)).then_some(Address { base, offset: None })
                }
            },
            _ => None,
        }
    }

    fn escape(&mut self, r: Ref) {
        if let Some(s) = self.slot(r) {
            self.escaped.insert(s);
        }
    }

    /// Marks the slots whose addresses `inst` lets out.
    fn escapes(&mut self, f: &Function, inst: &Inst) {
        let [x, y, _] = inst.args;
        if inst.op.is_load() || inst.op == Op::Blit || inst.op.comparison().is_some() {
            return;
        }
        if inst.op.is_store() {
            self.escape(x);
            return;
        }
        if let Some(c) = inst.call() {
            self.escape(x);
            let call = &f.calls[c];
            if call.env.is_some() {
                self.escape(call.env);
            }
            for arg in &call.args {
                // An aggregate by value is read at the call.
                if !matches!(arg.ty, AbiType::Aggregate(_)) {
                    self.escape(arg.value);
                }
            }
            return;
        }
        let kept = inst.to.and_then(|t| self.slot(t.into()));
        for r in [x, y, inst.args[2]] {
            if kept.is_none() || self.slot(r) != kept {
                self.escape(r);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::ir::{Slot, Temp, for_each_use_mut};
    use crate::parse::{Options, parse};

    /// The function in `text`, with slots for its allocations as the pass `slots` makes them.
    fn read(text: &str) -> (Module, Function) {
        let mut module = Module::default();
        parse("test", text.as_bytes(), &Options { internal_ops: true }, &mut module)
            .expect("it is right");
        let mut f = module.functions.iter().next().expect("a function").clone();
        let entry = f.entry();
        let insts = std::mem::take(&mut f.blocks[entry].insts);
        let mut slots = Vec::new();
        for inst in insts {
            match (inst.op.alloc_align(), inst.to) {
                (Some(align), Some(to)) => {
                    let size = f.bits(inst.args[0]).expect("a constant");
                    slots.push((to, f.slots.push(Slot { size, align, name: None })));
                }
                _ => f.blocks[entry].insts.push(inst),
            }
        }
        let Function { blocks, calls, .. } = &mut f;
        for inst in blocks.iter_mut().flat_map(|block| &mut block.insts) {
            for_each_use_mut(inst, calls, |r| {
                if let Some(row) = slots.iter().find(|row| Some(row.0) == r.as_temp()) {
                    *r = Ref::slot(row.1);
                }
            });
        }
        (module, f)
    }

    /// Which of two slots escape.
    fn escapes(body: &str) -> Vec<bool> {
        let text = format!(
            "type :pair = {{ l, l }}
            function l $f(l %n, w %c, ...) {{
            @start
                %a =l alloc8 16
                %b =l alloc8 16
                {body}
                ret 0
            }}"
        );
        let (module, f) = read(&text);
        let alias = Alias::new(&f, &Cfg::new(&f), &module);
        f.slots.indices().map(|s| alias.is_escaped(s)).collect()
    }

    #[test]
    fn an_address_that_goes_elsewhere_escapes() {
        let cases = [
            ("storel %b, %a", [false, true]),
            ("call $g(l %a, :pair %b)", [true, false]),
            ("call $g(env %a)\n%x =w ceql %b, 0", [true, false]),
            ("%x =l and %a, -16\n%y =l add %b, %n", [true, false]),
            ("%x =l add %a, %b", [true, true]),
            ("%x =l sub %a, %b", [true, true]),
            ("%x =w add %a, 1\nblit %b, %n, 16", [true, false]),
            ("%x =l add %a, 8\n%y =l copy %x\nstorel %y, %b", [true, false]),
            ("vastart %a\n%x =l sub %n, %b", [true, true]),
        ];
        for (body, wanted) in cases {
            assert_eq!(escapes(body), wanted, "{body}");
        }
    }

    #[test]
    fn distances_and_what_cannot_meet() {
        let (module, f) = read(
            "function $f(l %p, l %q) {
            @start
                %a =l alloc8 16
                %b =l alloc8 16
                call $g(l %b)
                %p4 =l add %p, 4
                %p2 =l sub %p4, 2
                %x =l add %a, %q
                ret
            }",
        );
        let alias = Alias::new(&f, &Cfg::new(&f), &module);
        let slot = |n: usize| alias.address(&f, Ref::slot(SlotId::new(n)));
        let place = |name: &str| {
            let named = |t: &Temp| t.name.is_some_and(|n| f.names.get(n) == name.as_bytes());
            let t = f.temps.indices().find(|&t| named(&f.temps[t])).expect("it is there");
            alias.address(&f, Ref::temp(t))
        };
        let (p, q, p2, x) = (place("p"), place("q"), place("p2"), place("x"));
        assert_eq!(alias.relation(p, 4, p2, 1), Relation::Overlap(2));
        assert_eq!(alias.relation(p2, 1, p, 4), Relation::Overlap(-2));
        assert_eq!(alias.relation(p, 2, p2, 8), Relation::Apart);
        assert_eq!(alias.relation(p, 1, q, 1), Relation::Unknown);
        assert_eq!(alias.relation(p, 8, slot(0), 8), Relation::Apart);
        assert_eq!(alias.relation(p, 8, slot(1), 8), Relation::Unknown);
        assert_eq!(alias.relation(slot(0), 8, slot(1), 8), Relation::Apart);
        // Slot 0 plus anything: somewhere in it. It does not escape, so nothing else meets it.
        assert_eq!(alias.relation(x, 1, slot(0), 1), Relation::Unknown);
        assert_eq!(alias.relation(x, 1, slot(1), 1), Relation::Apart);
    }
}
