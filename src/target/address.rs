//! Addresses taken apart, before they are memory operands: base + index * scale + displacement.
//! Which of them an instruction can name is the target's own matter.

use super::lower::read;
use super::machine::{Address, Base, Operand, VReg};
use super::select::Select;
use crate::ir::{Access, Ref, SlotId, SymbolId};
use smallvec::SmallVec;

/// Register operands of an instruction in the making.
pub type Operands = SmallVec<[Operand; 6]>;

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

    /// An address that is all in this register.
    pub fn reg(reg: VReg) -> Parts {
        Parts::term(Term::Reg(reg))
    }

    pub fn slot(slot: SlotId) -> Parts {
        Parts { base: PartBase::Slot(slot), ..Parts::ZERO }
    }

    /// A byte of the stack arguments of a call.
    pub fn outgoing(offset: u64) -> Parts {
        Parts { base: PartBase::Outgoing, ..Parts::ZERO }.plus(offset)
    }

    /// A byte of the function's own stack arguments.
    pub fn incoming(offset: u64) -> Parts {
        Parts { base: PartBase::Incoming, ..Parts::ZERO }.plus(offset)
    }

    /// `offset` bytes further on.
    pub fn plus(self, offset: u64) -> Parts {
        Parts { disp: self.disp.wrapping_add(offset as i64), ..self }
    }

    /// Adds a register. False if there is no room.
    pub fn add_term(&mut self, term: Term) -> bool {
        if self.base == PartBase::None {
            self.base = PartBase::Term(term);
        } else if self.index.is_none() {
            self.index = Some(term);
        } else {
            return false;
        }
        true
    }

    /// Gives the place of the base to something that can be nothing else. False if it is taken.
    pub fn set_base(&mut self, base: PartBase) -> bool {
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

    /// In a slot of our own frame, at a constant offset.
    pub fn is_own_slot(&self) -> bool {
        matches!(self.base, PartBase::Slot(_)) && self.index.is_none()
    }
}

/// Brings the registers of an address into `operands`, whose numbers go into the address.
pub fn address<'a, S: Select<'a>>(s: &mut S, parts: Parts, operands: &mut Operands) -> Address {
    let mut take = |term: Term| {
        let reg = s.term(term);
        operands.push(read(reg));
        operands.len() as u8 - 1
    };
    let base = match parts.base {
        PartBase::None => Base::None,
        PartBase::Term(term) => Base::Reg(take(term)),
        PartBase::Slot(slot) => Base::Slot(slot),
        PartBase::Incoming => Base::Incoming,
        PartBase::Outgoing => Base::Outgoing,
        PartBase::Symbol(symbol, access) => Base::Symbol(symbol, access),
    };
    let index = parts.index.map(take);
    Address { base, index, scale: parts.scale, disp: parts.disp }
}
