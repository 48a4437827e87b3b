//! Constant folding, integer identities, canonical forms.
//!
//! One sweep over the reachable blocks in reverse postorder, so that an instruction is looked at
//! when its operands are already in their final form. Rules are small named functions in tables,
//! one table an op ([`rules_of`]); an instruction is rewritten until no rule applies. Facts about
//! bits come from [`Bits`] as the sweep goes, those of loop phis from `phi_bits` before it. What
//! ops compute is asked of [`eval`] alone. docs/passes/fold.md has the canonical forms.
//!
//! Needs the CFG. Changes instructions, phi arguments and jump operands, no block and no edge; a
//! `jnz` that always goes one way is left with a constant for the `cfg` pass.

mod arithmetic;
mod compare;
mod extend;
mod logic;
#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use super::Env;
use crate::analysis::Facts;
use crate::analysis::bits::{Bits, mask, phi_bits};
use crate::index::{Index, IndexVec};
use crate::ir::eval::eval;
use crate::ir::ops::Want;
use crate::ir::{
    AbiType, BlockId, Class, Const, Function, Inst, Jump, Op, Phi, Ref, TempId, Value,
    for_each_use_mut,
};

/// Folds `f`; true if anything changed.
pub fn run(f: &mut Function, facts: &Facts, _env: &Env<'_>) -> bool {
    fold(f, &facts.cfg.rpo)
}

/// What a rule makes of an instruction.
enum Step {
    /// The result is this operand.
    Value(Ref),
    /// Another op of the same class with the same result.
    Inst(Op, [Ref; 3]),
    /// An earlier instruction now defines the result.
    Done,
}

/// A named identity.
struct Rule {
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name rules to switch them off"))]
    name: &'static str,
    apply: fn(&mut Folder<'_>, &Inst) -> Option<Step>,
}

/// A table of rules from the names of their functions.
macro_rules! rules {
    ($($rule:ident)*) => { &[$(Rule { name: stringify!($rule), apply: $rule }),*] };
}
use rules;

/// Rules that may fire one after the other on one instruction.
const MAX_STEPS: usize = 24;
/// How deep the operands that rules build may themselves be simplified.
const MAX_DEPTH: usize = 4;

/// The state of the sweep. The tables have a row a temporary.
struct Folder<'a> {
    f: &'a mut Function,
    /// The instruction that defines it, a nop for phis and parameters.
    defs: IndexVec<TempId, Inst>,
    /// Where that instruction is: block and place.
    places: IndexVec<TempId, (BlockId, u32)>,
    uses: IndexVec<TempId, u32>,
    bits: IndexVec<TempId, Bits>,
    /// What it was found to equal, or `Ref::NONE`.
    replaced: IndexVec<TempId, Ref>,
    /// The block in work and its instructions so far.
    block: BlockId,
    out: Vec<Inst>,
    /// The facts of the result of what was simplified last.
    result: Bits,
    depth: usize,
    changed: bool,
    /// A rule that tests switch off.
    #[cfg(test)]
    disabled: Option<&'static str>,
}

/// Folds the blocks of `rpo`.
pub fn fold(f: &mut Function, rpo: &[BlockId]) -> bool {
    let mut folder = Folder::new(f, rpo);
    folder.sweep(rpo);
    folder.changed
}

/// The rules for an op with an integer result.
fn rules_of(op: Op) -> &'static [Rule] {
    match op {
        Op::Add => arithmetic::ADD,
        Op::Sub => arithmetic::SUB,
        Op::Neg => arithmetic::NEG,
        Op::Mul => arithmetic::MUL,
        Op::Div => arithmetic::DIV,
        Op::Rem => arithmetic::REM,
        Op::Udiv => arithmetic::UDIV,
        Op::Urem => arithmetic::UREM,
        Op::And => logic::AND,
        Op::Or => logic::OR,
        Op::Xor => logic::XOR,
        Op::Shl => logic::SHL,
        Op::Shr => logic::SHR,
        Op::Sar => logic::SAR,
        Op::Rotl => logic::ROTL,
        Op::Rotr => logic::ROTR,
        Op::Extsb | Op::Extub | Op::Extsh | Op::Extuh | Op::Extsw | Op::Extuw => extend::EXTEND,
        Op::Copy => extend::COPY,
        Op::Cast => extend::CAST,
        Op::Select => compare::SELECT,
        Op::Storeb | Op::Storeh | Op::Storew => extend::STORE,
        Op::Storel | Op::Stores | Op::Stored | Op::Blit => &[],
        Op::Loadsb
        | Op::Loadub
        | Op::Loadsh
        | Op::Loaduh
        | Op::Loadsw
        | Op::Loaduw
        | Op::Loadl
        | Op::Loads
        | Op::Loadd => &[],
        Op::Exts | Op::Truncd | Op::Stosi | Op::Stoui | Op::Dtosi | Op::Dtoui => &[],
        Op::Swtof | Op::Uwtof | Op::Sltof | Op::Ultof => &[],
        Op::Alloc4 | Op::Alloc8 | Op::Alloc16 | Op::Vaarg | Op::Vastart | Op::Call => &[],
        Op::Dbgloc | Op::Nop | Op::Bswap | Op::Smulh | Op::Umulh => &[],
        comparison => match comparison.comparison() {
            Some((_, class)) if class.is_int() => compare::COMPARE,
            _ => &[],
        },
    }
}

impl<'a> Folder<'a> {
    fn new(f: &'a mut Function, rpo: &[BlockId]) -> Folder<'a> {
        let n = f.temps.len();
        let mut uses = IndexVec::filled(0u32, n);
        let mut count = |r: Ref| {
            if let Some(t) = r.as_temp() {
                uses[t] += 1;
            }
        };
        for &b in rpo {
            let block = &f.blocks[b];
            block.phis.iter().flat_map(|p| &p.args).for_each(|&(_, r)| count(r));
            block.insts.iter().for_each(|inst| f.for_each_use(inst, &mut count));
            count(block.jump.arg());
        }
        let bits = match has_loop_phis(f, rpo) {
            true => phi_bits(f, rpo),
            false => IndexVec::filled(Bits::UNKNOWN, n),
        };
        let entry = f.entry();
        Folder {
            f,
            defs: IndexVec::filled(Inst::nop(), n),
            places: IndexVec::filled((entry, 0), n),
            uses,
            bits,
            replaced: IndexVec::filled(Ref::NONE, n),
            block: entry,
            out: Vec::new(),
            result: Bits::UNKNOWN,
            depth: 0,
            changed: false,
            #[cfg(test)]
            disabled: None,
        }
    }

    fn sweep(&mut self, rpo: &[BlockId]) {
        for &b in rpo {
            self.block = b;
            self.fold_phis(b);
            let mut insts = std::mem::take(&mut self.f.blocks[b].insts);
            for inst in insts.drain(..) {
                self.visit(inst);
            }
            // The buffer just emptied takes the next block.
            self.f.blocks[b].insts = std::mem::replace(&mut self.out, insts);
            self.fold_jump(b);
        }
        self.resolve_rest(rpo);
    }

    /// A phi whose arguments are one value is that value.
    fn fold_phis(&mut self, b: BlockId) {
        let mut phis = std::mem::take(&mut self.f.blocks[b].phis);
        phis.retain_mut(|phi| {
            let mut only = Ref::NONE;
            let mut same = true;
            for (_, r) in &mut phi.args {
                *r = self.resolve(*r);
                if phi.class == Class::W {
                    *r = self.canonical(*r);
                }
                if *r != phi.to.into() {
                    same &= only.is_none() || only == *r;
                    only = *r;
                }
            }
            if !same || only.is_none() || !self.fits(only, phi.class) {
                self.fold_phi_bits(phi);
                return true;
            }
            self.replace(phi.to, only);
            false
        });
        self.f.blocks[b].phis = phis;
    }

    /// Meets the facts of a phi's arguments. Those of loop phis are there already, and what comes
    /// from behind is unknown, which adds nothing to them.
    fn fold_phi_bits(&mut self, phi: &Phi) {
        if phi.class.is_int() {
            let facts = phi.args.iter().map(|&(_, r)| self.known(r, phi.class));
            let known = facts.reduce(Bits::meet).unwrap_or(Bits::UNKNOWN);
            self.bits[phi.to] = self.bits[phi.to].join(known, phi.class);
        }
    }

    /// Simplifies one instruction and what it needs into the output.
    fn visit(&mut self, mut inst: Inst) {
        let replaced = &self.replaced;
        let mut resolved = false;
        for_each_use_mut(&mut inst, &mut self.f.calls, |r| {
            let new = resolve(replaced, *r);
            resolved |= new != *r;
            *r = new;
        });
        self.changed |= resolved;
        if inst.op == Op::Call {
            self.narrow_arguments(&inst);
        }
        let before = inst;
        match self.simplify(inst) {
            Step::Value(r) => {
                self.count(&before, u32::wrapping_sub);
                let to = before.to.expect("an instruction with a value");
                self.replace(to, r);
            }
            Step::Inst(op, args) => {
                let after = Inst { op, args, ..before };
                self.changed |= after != before;
                self.count(&before, u32::wrapping_sub);
                self.count(&after, u32::wrapping_add);
                self.push(after);
            }
            Step::Done => {
                self.changed = true;
                self.count(&before, u32::wrapping_sub);
            }
        }
    }

    /// Adds an instruction to the output and to the tables.
    fn push(&mut self, inst: Inst) {
        if let Some(to) = inst.to {
            self.defs[to] = inst;
            self.places[to] = (self.block, self.out.len() as u32);
            if self.bits[to] == Bits::UNKNOWN {
                self.bits[to] = self.result;
            } else {
                self.bits[to] = self.bits[to].join(self.result, inst.class);
            }
        }
        self.out.push(inst);
    }

    /// Counts the operands of `inst` as uses, or no longer.
    fn count(&mut self, inst: &Inst, change: fn(u32, u32) -> u32) {
        let uses = &mut self.uses;
        self.f.for_each_use(inst, |r| {
            if let Some(t) = r.as_temp() {
                uses[t] = change(uses[t], 1);
            }
        });
    }

    /// Rewrites an instruction until no rule applies.
    fn simplify(&mut self, mut inst: Inst) -> Step {
        for _ in 0..MAX_STEPS {
            self.canonical_operands(&mut inst);
            if inst.to.is_some() && inst.op.is_pure() {
                if let Some(r) = self.constant(&inst) {
                    return Step::Value(r);
                }
                if inst.op.commutative() && self.rank(inst.args[0]) > self.rank(inst.args[1]) {
                    inst.args.swap(0, 1);
                }
            }
            match self.apply_rules(&inst) {
                Some(Step::Inst(op, args)) => {
                    inst.op = op;
                    inst.args = args;
                }
                Some(step) => return step,
                None => break,
            }
        }
        self.result = Bits::UNKNOWN;
        if inst.to.is_some() && inst.class.is_int() {
            self.result = Bits::of(self.f, &self.bits, &inst);
            if inst.op.is_pure()
                && let Some(value) = self.result.value(inst.class)
            {
                return Step::Value(self.int(inst.class, value));
            }
        }
        Step::Inst(inst.op, inst.args)
    }

    fn apply_rules(&mut self, inst: &Inst) -> Option<Step> {
        if !inst.class.is_int() && !matches!(inst.op, Op::Copy | Op::Cast | Op::Select) {
            return None;
        }
        for rule in rules_of(inst.op) {
            #[cfg(test)]
            if self.disabled == Some(rule.name) {
                continue;
            }
            if let Some(step) = (rule.apply)(self, inst) {
                return Some(step);
            }
        }
        None
    }

    /// Makes equal constants equal `Ref`s, and drops the extension of an operand of which only
    /// the low half is read.
    fn canonical_operands(&mut self, inst: &mut Inst) {
        let wants = inst.op.wants(inst.class);
        for (r, want) in inst.args.iter_mut().zip(wants) {
            if *want == Want::A(Class::W) && r.is_some() {
                *r = self.low_half(*r);
            }
        }
    }

    /// An operand in a `w` context without an extension to `l` in front of it.
    fn low_half(&mut self, mut r: Ref) -> Ref {
        while let Some(t) = r.as_temp()
            && let Inst { op: Op::Extsw | Op::Extuw, args: [x, ..], .. } = self.defs[t]
        {
            r = x;
        }
        self.canonical(r)
    }

    /// A constant in a `w` context, sign-extended from 32 bits. Leaves other operands alone.
    fn canonical(&mut self, r: Ref) -> Ref {
        match (r.value(), self.f.bits(r)) {
            (Value::Const(_), Some(bits)) => self.f.int(i64::from(bits as i32)),
            _ => r,
        }
    }

    /// Drops extensions to `l` of arguments that are passed as `w`.
    fn narrow_arguments(&mut self, inst: &Inst) {
        let Some(id) = inst.call() else { return };
        for i in 0..self.f.calls[id].args.len() {
            let arg = self.f.calls[id].args[i];
            if arg.ty != AbiType::Base(Class::W) {
                continue;
            }
            let new = self.low_half(arg.value);
            if new != arg.value {
                self.recount(arg.value, new);
                self.f.calls[id].args[i].value = new;
            }
        }
    }

    /// One use goes from `old` to `new`.
    fn recount(&mut self, old: Ref, new: Ref) {
        if let Some(t) = old.as_temp() {
            self.uses[t] -= 1;
        }
        if let Some(t) = new.as_temp() {
            self.uses[t] += 1;
        }
        self.changed = true;
    }

    /// The value of a pure instruction of constants.
    fn constant(&mut self, inst: &Inst) -> Option<Ref> {
        let mut values = [0; 3];
        for (value, &r) in values.iter_mut().zip(inst.operands()) {
            *value = self.f.bits(r)?;
        }
        let value = eval(inst.op, inst.class, values)?;
        Some(match inst.class {
            Class::W | Class::L => self.int(inst.class, value),
            Class::S => self.f.constant(Const::Single(value as u32)),
            Class::D => self.f.constant(Const::Double(value)),
        })
    }

    /// Operands of commutative ops stand in the order of their ranks.
    fn rank(&self, r: Ref) -> u32 {
        match r.value() {
            Value::Temp(_) => 0,
            Value::Slot(_) => 1,
            Value::Const(_) if self.f.symbol_of(r).is_some() => 2,
            Value::Const(_) | Value::Int(_) => 3,
            Value::Call(_) | Value::None => 4,
        }
    }

    // What the rules ask and make.

    /// The instruction that defines `r` in `class`, or a nop.
    fn def(&self, r: Ref, class: Class) -> Inst {
        match r.as_temp() {
            Some(t) if self.defs[t].class == class => self.defs[t],
            _ => Inst::nop(),
        }
    }

    /// The operands of the instruction of `class` that defines `r`, if it is an `op`.
    fn operands_of(&self, r: Ref, op: Op, class: Class) -> Option<[Ref; 2]> {
        let inst = self.def(r, class);
        (inst.op == op).then_some([inst.args[0], inst.args[1]])
    }

    /// `x` and `c` where `r` is `op x, c` with a constant.
    fn with_constant(&self, r: Ref, op: Op, class: Class) -> Option<(Ref, u64)> {
        let [x, c] = self.operands_of(r, op, class)?;
        Some((x, self.bits(c, class)?))
    }

    /// The value of a constant in `class`, sign-extended if it is a `w`.
    fn bits(&self, r: Ref, class: Class) -> Option<u64> {
        self.f.bits_as(r, class)
    }

    fn known(&self, r: Ref, class: Class) -> Bits {
        Bits::operand(self.f, &self.bits, r, class)
    }

    /// True if `r` is a temporary that only the instruction in work reads.
    fn used_once(&self, r: Ref) -> bool {
        r.as_temp().is_some_and(|t| self.uses[t] <= 1)
    }

    /// True if `r` may stand where a value of `class` is wanted.
    fn fits(&self, r: Ref, class: Class) -> bool {
        match r.value() {
            Value::Temp(t) => {
                let own = self.f.temps[t].class;
                own == class || (own == Class::L && class == Class::W)
            }
            Value::Int(_) => true,
            Value::Const(_) => class.is_int() || self.f.bits(r).is_some(),
            Value::Slot(_) => class.is_int(),
            Value::None | Value::Call(_) => false,
        }
    }

    /// The constant `value` of an integer class.
    fn int(&mut self, class: Class, value: u64) -> Ref {
        self.f.int(match class {
            Class::W | Class::S => i64::from(value as i32),
            Class::L | Class::D => value as i64,
        })
    }

    /// An operand that an instruction in front of this one computes.
    fn build(&mut self, op: Op, class: Class, args: &[Ref]) -> Ref {
        let to = self.new_temp(class);
        let mut inst = Inst::new(op, class, to, args);
        self.result = Bits::UNKNOWN;
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            let step = self.simplify(inst);
            self.depth -= 1;
            match step {
                Step::Value(r) => return r,
                Step::Inst(op, args) => {
                    inst.op = op;
                    inst.args = args;
                }
                Step::Done => return to.into(),
            }
        }
        self.count(&inst, u32::wrapping_add);
        self.push(inst);
        to.into()
    }

    /// Puts `inst`, with another result, where `t` was defined; `t` is gone.
    fn redefine(&mut self, t: TempId, inst: Inst) {
        let to = inst.to.expect("a load has a result");
        let (b, i) = self.places[t];
        let block = if b == self.block { &mut self.out } else { &mut self.f.blocks[b].insts };
        block[i as usize] = inst;
        self.places[to] = (b, i);
        self.defs[to] = inst;
        self.defs[t] = Inst::nop();
        let known = Bits::of(self.f, &self.bits, &inst);
        self.bits[to] = self.bits[to].join(known, inst.class);
    }

    fn new_temp(&mut self, class: Class) -> TempId {
        self.defs.push(Inst::nop());
        self.places.push((self.block, 0));
        self.uses.push(0);
        self.bits.push(Bits::UNKNOWN);
        self.replaced.push(Ref::NONE);
        self.f.new_temp(class)
    }

    /// `t` is `r` everywhere from now on.
    fn replace(&mut self, t: TempId, r: Ref) {
        self.changed = true;
        debug_assert!(self.fits(r, self.f.temps[t].class), "{t:?} is not {r:?}");
        self.replaced[t] = r;
        if let Some(to) = r.as_temp() {
            self.uses[to] += self.uses[t];
        }
    }

    fn resolve(&mut self, r: Ref) -> Ref {
        let new = resolve(&self.replaced, r);
        self.changed |= new != r;
        new
    }

    /// `r` without what changes no bit of `demanded`: masks, extensions, additions above it.
    fn strip(&self, mut r: Ref, class: Class, demanded: u64) -> Ref {
        // Chains are short, and each link was stripped when it was made.
        for _ in 0..4 {
            let Some(t) = r.as_temp() else { break };
            let inst = self.defs[t];
            let constant = self.bits(inst.args[1], inst.class);
            let useless = match (inst.op, inst.op.extension(), constant) {
                (_, Some((kept, _)), _) => demanded >> (kept - 1) >> 1 == 0,
                (Op::And, _, Some(c)) => demanded & !c == 0,
                (Op::Or | Op::Xor, _, Some(c)) => demanded & c == 0,
                (Op::Add, _, Some(c)) => c.trailing_zeros() >= 64 - demanded.leading_zeros(),
                _ => false,
            };
            if !useless || !inst.class.is_int() || !self.fits(inst.args[0], class) {
                break;
            }
            r = inst.args[0];
        }
        r
    }

    /// Simplifies the operand of the block's jump.
    fn fold_jump(&mut self, b: BlockId) {
        let mut jump = self.f.blocks[b].jump;
        match &mut jump {
            Jump::Ret(r) => {
                let old = *r;
                *r = self.resolve(old);
                if self.f.ret == Some(AbiType::Base(Class::W)) && r.is_some() {
                    let new = self.low_half(*r);
                    if new != *r {
                        self.recount(*r, new);
                        *r = new;
                    }
                }
            }
            Jump::Jnz(r, yes, no) => {
                let old = self.resolve(*r);
                let (new, swapped) = self.condition(old);
                if new != old {
                    self.recount(old, new);
                }
                *r = new;
                if swapped {
                    self.changed = true;
                    std::mem::swap(yes, no);
                }
            }
            Jump::Jmp(_) | Jump::Hlt => {}
        }
        self.f.blocks[b].jump = jump;
    }

    /// The shortest operand whose low half is 0 when that of `r` is, or (`true`) when it is not.
    fn condition(&mut self, r: Ref) -> (Ref, bool) {
        let mut r = self.low_half(r);
        let mut swapped = false;
        for _ in 0..MAX_STEPS {
            let known = self.known(r, Class::W);
            if let Some(value) = known.value(Class::W) {
                return (self.f.int(i64::from(value != 0)), swapped);
            }
            if known.is_nonzero() {
                return (self.f.int(1), swapped);
            }
            let Some(t) = r.as_temp() else { break };
            let inst = self.defs[t];
            let [x, c, _] = inst.args;
            let constant = self.bits(c, Class::W);
            let boolean = || self.known(x, Class::W).unsigned_range(Class::W).1 <= 1;
            let flips = match (inst.op, constant) {
                (Op::Cnew, Some(0)) => false,
                (Op::Ceqw, Some(0)) => true,
                (Op::Xor, Some(1)) if boolean() => true,
                (Op::Neg, _) if inst.class == Class::W => false,
                _ => break,
            };
            swapped ^= flips;
            r = self.low_half(x);
        }
        (r, swapped)
    }

    /// Resolves what the sweep could not know: arguments of loop phis, and dead blocks.
    fn resolve_rest(&mut self, rpo: &[BlockId]) {
        let mut live = vec![false; self.f.blocks.len()];
        for &b in rpo {
            live[b.index()] = true;
        }
        let Folder { f, replaced, .. } = self;
        let Function { blocks, calls, .. } = &mut **f;
        for (b, block) in blocks.enumerate_mut() {
            for (_, r) in block.phis.iter_mut().flat_map(|phi| &mut phi.args) {
                *r = resolve(replaced, *r);
            }
            if live[b.index()] {
                continue;
            }
            for inst in &mut block.insts {
                for_each_use_mut(inst, calls, |r| *r = resolve(replaced, *r));
            }
            if let Some(r) = block.jump.arg_mut() {
                *r = resolve(replaced, *r);
            }
        }
    }
}

/// True if a value may come to a phi from behind.
fn has_loop_phis(f: &Function, rpo: &[BlockId]) -> bool {
    let mut seen = vec![false; f.blocks.len()];
    rpo.iter().any(|&b| {
        let from_behind = |phi: &Phi| phi.args.iter().any(|(from, _)| !seen[from.index()]);
        let found = f.blocks[b].phis.iter().any(from_behind);
        seen[b.index()] = true;
        found
    })
}

/// What `r` stands for after replacements. Chains are followed; they are short, because what
/// replaces a temporary was resolved itself.
fn resolve(replaced: &IndexVec<TempId, Ref>, mut r: Ref) -> Ref {
    while let Some(t) = r.as_temp()
        && replaced[t].is_some()
    {
        r = replaced[t];
    }
    r
}

/// True if `value` has one bit set, within `class`.
fn is_power(value: u64, class: Class) -> bool {
    (value & mask(class)).is_power_of_two()
}
