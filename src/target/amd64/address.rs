//! Addresses: which part of the computation of an address an instruction can do itself, as
//! base + index * scale + displacement.

use super::insts;
use super::isel::Isel;
use crate::ir::{Access, Class, Op, Ref, TempId};
use crate::target::ObjectFormat;
use crate::target::address::{PartBase, Parts, Term};
use crate::target::lower::{Def, write};
use crate::target::machine::VReg;

/// Symbols may be this far away from the byte an instruction names: the linker sees offsets of at
/// most 2 GiB from the code to the result, and the program itself takes its part of that.
pub const SYMBOL_REACH: i64 = 1 << 30;

/// Additions looked through in one address.
const DEPTH: u32 = 6;

/// A symbol cannot have an index: it becomes a register.
fn symbol_to_register(parts: &mut Parts) {
    if let PartBase::Symbol(symbol, Access::Direct) = parts.base {
        parts.base = PartBase::Term(Term::Symbol(symbol, Access::Direct, 0));
    }
}

fn add_term(parts: &mut Parts, term: Term) -> bool {
    symbol_to_register(parts);
    parts.add_term(term)
}

/// A lea does more than another instruction would: three terms or a scale, or a base that has no
/// other instruction.
pub fn worth_lea(parts: &Parts) -> bool {
    let needed = match parts.base {
        PartBase::None | PartBase::Term(_) => false,
        PartBase::Slot(_) | PartBase::Incoming | PartBase::Outgoing | PartBase::Symbol(..) => true,
    };
    needed || parts.index.is_some() && (parts.scale > 1 || parts.disp != 0)
}

fn fits(parts: &Parts) -> bool {
    let reach = match parts.base {
        PartBase::Symbol(..) => SYMBOL_REACH,
        PartBase::Slot(_) | PartBase::Incoming | PartBase::Outgoing => 1 << 30,
        PartBase::None | PartBase::Term(_) => 1 << 31,
    };
    (-reach..reach).contains(&parts.disp)
}

impl Isel<'_> {
    /// An instruction can name such a symbol itself. Only ELF has thread-locals at a fixed distance
    /// from a segment register.
    pub fn is_direct(&self, access: Access) -> bool {
        match access {
            Access::Direct => true,
            Access::Thread => self.format == ObjectFormat::Elf,
            Access::Extern | Access::ExternThread => false,
        }
    }

    /// `Select::parts`
    pub fn take_apart(&self, r: Ref) -> Parts {
        let r = self.b.resolve(r);
        let mut parts = Parts::ZERO;
        if self.add_ref(&mut parts, r, DEPTH, Class::L, false) && fits(&parts) {
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
        if !self.add_ref(&mut parts, Ref::temp(t), DEPTH, class, true) || !fits(&parts) {
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
            return match () {
                () if !self.is_direct(access) => {
                    parts.disp = parts.disp.wrapping_add(offset);
                    add_term(parts, Term::Symbol(symbol, access, 0))
                }
                () if parts.base == PartBase::None && parts.index.is_none() => {
                    parts.disp = parts.disp.wrapping_add(offset);
                    parts.set_base(PartBase::Symbol(symbol, access))
                }
                () => add_term(parts, Term::Symbol(symbol, access, offset)),
            };
        }
        if let Some(slot) = r.as_slot() {
            return parts.set_base(PartBase::Slot(slot)) || add_term(parts, Term::Value(r));
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
        add_term(parts, Term::Value(r))
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
                if !(root || (once && self.b.is_here(t))) {
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
        symbol_to_register(parts);
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

    /// `lea parts, reg`
    pub fn lea(&mut self, reg: VReg, size: u8, parts: Parts) {
        self.push_memory(insts::LEA, size, &[write(reg)], parts);
    }
}
