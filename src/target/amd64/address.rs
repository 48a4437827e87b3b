//! Addresses: which part of the computation of an address an instruction can do itself, as
//! base + index * scale + displacement.

use super::constants::Constant;
use super::insts;
use super::isel::Isel;
use crate::ir::{Access, Class, Op, Ref, SlotId, SymbolId, TempId};
use crate::target::lower::{Def, read, write};
use crate::target::machine::{Address, Base, Operand, VReg};
use smallvec::SmallVec;

/// Symbols may be this far away from the byte an instruction names: the linker sees offsets of at
/// most 2 GiB from the code to the result, and the program itself takes its part of that.
pub const SYMBOL_REACH: i64 = 1 << 30;

/// Additions looked through in one address.
const DEPTH: u32 = 6;

/// A register operand of an address that is not in a register yet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Term {
    Value(Ref),
    /// The address of a symbol, plus an offset.
    Symbol(SymbolId, Access, i64),
    /// A register that is there already.
    Reg(VReg),
}

/// The base of an address.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PartBase {
    None,
    Term(Term),
    Slot(SlotId),
    Incoming,
    Outgoing,
    /// Direct or thread-local.
    Symbol(SymbolId, Access),
}

/// An address taken apart.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Parts {
    pub base: PartBase,
    pub index: Option<Term>,
    pub scale: u8,
    pub disp: i64,
}

impl Parts {
    pub const ZERO: Parts = Parts { base: PartBase::None, index: None, scale: 1, disp: 0 };

    /// An address that is all in one register.
    pub fn term(term: Term) -> Parts {
        Parts { base: PartBase::Term(term), ..Parts::ZERO }
    }

    pub fn slot(slot: SlotId) -> Parts {
        Parts { base: PartBase::Slot(slot), ..Parts::ZERO }
    }

    /// `offset` bytes further on.
    pub fn plus(self, offset: u64) -> Parts {
        Parts { disp: self.disp.wrapping_add(offset as i64), ..self }
    }

    /// A symbol cannot have an index: it becomes a register.
    fn symbol_to_register(&mut self) {
        if let PartBase::Symbol(symbol, Access::Direct) = self.base {
            self.base = PartBase::Term(Term::Symbol(symbol, Access::Direct, 0));
        }
    }

    fn add_term(&mut self, term: Term) -> bool {
        self.symbol_to_register();
        if self.base == PartBase::None {
            self.base = PartBase::Term(term);
        } else if self.index.is_none() {
            self.index = Some(term);
        } else {
            return false;
        }
        true
    }

    /// Gives the place of the base to something that can be nothing else.
    fn set_base(&mut self, base: PartBase) -> bool {
        if let PartBase::Term(term) = self.base
            && self.index.is_none()
        {
            self.index = Some(term);
            self.base = PartBase::None;
        }
        let free = self.base == PartBase::None;
        if free {
            self.base = base;
        }
        free
    }

    /// Three terms or a scale: better than separate instructions.
    pub fn worth_lea(&self) -> bool {
        self.index.is_some() && (self.scale > 1 || self.disp != 0)
    }

    /// A base that has no other instruction.
    pub fn needs_lea(&self) -> bool {
        match self.base {
            PartBase::None | PartBase::Term(_) => false,
            PartBase::Slot(_) | PartBase::Incoming | PartBase::Outgoing | PartBase::Symbol(..) => {
                true
            }
        }
    }

    fn fits(&self) -> bool {
        let reach = match self.base {
            PartBase::Symbol(..) => SYMBOL_REACH,
            PartBase::Slot(_) | PartBase::Incoming | PartBase::Outgoing => 1 << 30,
            PartBase::None | PartBase::Term(_) => 1 << 31,
        };
        (-reach..reach).contains(&self.disp)
    }
}

impl Isel<'_> {
    /// Takes the address `r`, needed in the block being selected, apart.
    pub fn parts(&self, r: Ref) -> Parts {
        let r = self.b.resolve(r);
        let mut parts = Parts::ZERO;
        if self.add_ref(&mut parts, r, DEPTH, Class::L, false) && parts.fits() {
            return parts;
        }
        if let Some((symbol, access, offset)) = self.b.f.symbol_of(r) {
            return Parts::term(Term::Symbol(symbol, access, offset));
        }
        Parts::term(Term::Value(r))
    }

    /// Takes the result `t` of an addition, shift or multiplication apart, for a lea that computes
    /// it. `None` if it cannot be done in one.
    pub fn parts_of_result(&self, t: TempId, class: Class) -> Option<Parts> {
        let mut parts = Parts::ZERO;
        if !self.add_ref(&mut parts, Ref::temp(t), DEPTH, class, true) || !parts.fits() {
            return None;
        }
        if let PartBase::Symbol(symbol, Access::Thread) = parts.base {
            parts.base = PartBase::Term(Term::Symbol(symbol, Access::Thread, parts.disp));
            parts.disp = 0;
        }
        // Nothing was taken apart.
        (parts != Parts::term(Term::Value(Ref::temp(t)))).then_some(parts)
    }

    /// Adds `r` to the address. False if there is no room.
    fn add_ref(&self, parts: &mut Parts, r: Ref, depth: u32, class: Class, root: bool) -> bool {
        let r = self.b.resolve(r);
        let f = self.b.f;
        if let Some(bits) = f.bits_as(r, class) {
            parts.disp = parts.disp.wrapping_add(bits as i64);
            return true;
        }
        if let Some((symbol, access, offset)) = f.symbol_of(r) {
            return match access {
                Access::Direct | Access::Thread
                    if parts.base == PartBase::None && parts.index.is_none() =>
                {
                    parts.disp = parts.disp.wrapping_add(offset);
                    parts.set_base(PartBase::Symbol(symbol, access))
                }
                Access::Direct | Access::Thread => {
                    parts.add_term(Term::Symbol(symbol, access, offset))
                }
                Access::Extern | Access::ExternThread => {
                    parts.disp = parts.disp.wrapping_add(offset);
                    parts.add_term(Term::Symbol(symbol, access, 0))
                }
            };
        }
        if let Some(slot) = r.as_slot() {
            return parts.set_base(PartBase::Slot(slot)) || parts.add_term(Term::Value(r));
        }
        let Some(t) = r.as_temp() else { return false };
        if let Def::Incoming(offset) = self.b.defs[t]
            && parts.set_base(PartBase::Incoming)
        {
            parts.disp = parts.disp.wrapping_add(offset as i64);
            return true;
        }
        let before = *parts;
        if depth > 0 && self.expand(parts, t, depth, class, root) {
            return true;
        }
        *parts = before;
        parts.add_term(Term::Value(r))
    }

    /// Adds the operands of `t`'s instruction in its place.
    fn expand(&self, parts: &mut Parts, t: TempId, depth: u32, class: Class, root: bool) -> bool {
        let Some(inst) = self.b.definition(Ref::temp(t)) else { return false };
        if inst.class != class && !(class == Class::W && inst.class == Class::L) {
            return false;
        }
        let f = self.b.f;
        let constant = f.bits_as(self.b.resolve(inst.args[1]), Class::L);
        let once = self.b.uses[t] == 1;
        if !root && !once && self.b.wanted(t).is_some() {
            return false;
        }
        match (inst.op, constant) {
            (Op::Add, Some(_)) => {
                self.add_ref(parts, inst.args[0], depth - 1, class, false)
                    && self.add_ref(parts, inst.args[1], 0, class, false)
            }
            (Op::Add, None) => {
                if !(root || (once && self.is_here(t))) {
                    return false;
                }
                let before = *parts;
                // If the first operand takes all the room, it has to be one register.
                for depth_of_first in [depth - 1, 0] {
                    *parts = before;
                    if self.add_ref(parts, inst.args[0], depth_of_first, class, false)
                        && self.add_ref(parts, inst.args[1], depth - 1, class, false)
                    {
                        return true;
                    }
                }
                false
            }
            (Op::Sub, Some(bits)) => {
                parts.disp = parts.disp.wrapping_sub(bits as i64);
                self.add_ref(parts, inst.args[0], depth - 1, class, false)
            }
            (Op::Shl, Some(count)) => {
                let width = if inst.class == Class::L { 64 } else { 32 };
                self.scaled(parts, inst.args[0], count as u32 % width, class)
            }
            (Op::Mul, Some(factor)) => match factor {
                2 | 4 | 8 => self.scaled(parts, inst.args[0], factor.trailing_zeros(), class),
                3 | 5 | 9 if *parts == Parts::ZERO && root => {
                    let term = Term::Value(self.b.resolve(inst.args[0]));
                    parts.base = PartBase::Term(term);
                    parts.index = Some(term);
                    parts.scale = factor as u8 - 1;
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Makes `r << shift` the index. A constant added to it goes into the displacement.
    fn scaled(&self, parts: &mut Parts, r: Ref, shift: u32, class: Class) -> bool {
        if shift > 3 {
            return false;
        }
        if parts.index.is_some() {
            // The index moves to the base if its scale and the base's place allow it.
            if parts.base != PartBase::None || parts.scale != 1 {
                return false;
            }
            parts.base = PartBase::Term(parts.index.take().expect("there is an index"));
        }
        parts.symbol_to_register();
        let mut r = self.b.resolve(r);
        if r.as_temp().is_none() {
            return false;
        }
        if let Some(inst) = self.b.definition(r)
            && inst.op == Op::Add
            && inst.class == class
            && let Some(bits) = self.b.f.bits_as(self.b.resolve(inst.args[1]), class)
            && self.b.resolve(inst.args[0]).as_temp().is_some()
            && r.as_temp().is_some_and(|t| self.b.uses[t] == 1)
        {
            parts.disp = parts.disp.wrapping_add((bits as i64).wrapping_shl(shift));
            r = self.b.resolve(inst.args[0]);
        }
        parts.index = Some(Term::Value(r));
        parts.scale = 1 << shift;
        true
    }

    /// Defined in the block being selected.
    pub fn is_here(&self, t: TempId) -> bool {
        matches!(self.b.defs[t], Def::Inst(b, _) if Some(b) == self.source)
    }

    /// Brings the registers of an address into `operands`, whose numbers go into the address.
    pub fn address(&mut self, parts: Parts, operands: &mut SmallVec<[Operand; 6]>) -> Address {
        let mut take = |this: &mut Self, term: Term| {
            let reg = this.term(term);
            operands.push(read(reg));
            operands.len() as u8 - 1
        };
        let base = match parts.base {
            PartBase::None => Base::None,
            PartBase::Term(term) => Base::Reg(take(self, term)),
            PartBase::Slot(slot) => Base::Slot(slot),
            PartBase::Incoming => Base::Incoming,
            PartBase::Outgoing => Base::Outgoing,
            PartBase::Symbol(symbol, access) => Base::Symbol(symbol, access),
        };
        let index = parts.index.map(|term| take(self, term));
        Address { base, index, scale: parts.scale, disp: parts.disp }
    }

    fn term(&mut self, term: Term) -> VReg {
        match term {
            Term::Value(r) => self.value(r, Class::L),
            Term::Symbol(symbol, access, offset) => {
                self.constant(Constant::Symbol(symbol, access, offset))
            }
            Term::Reg(reg) => reg,
        }
    }

    /// `lea parts, reg`
    pub fn lea(&mut self, reg: VReg, size: u8, parts: Parts) {
        let mut operands: SmallVec<[Operand; 6]> = SmallVec::new();
        operands.push(write(reg));
        let address = self.address(parts, &mut operands);
        self.push_address(insts::LEA, size, &operands, address);
    }
}
