//! The frame of a function: where its slots, spills and saved registers are.
//!
//! ```text
//!   incoming stack arguments
//!   registers of variadic arguments, up to a7, if the function reads them
//!   slots: the most used per byte last
//!   spills
//!   saved registers, the return address first
//!   outgoing stack arguments                <- sp; s0, with run-time allocation
//! ```
//!
//! Offsets count from sp as the prologue leaves it, so all are positive: compressed loads and
//! stores have no others, and none beyond 504. In a function that allocates at run time s0 keeps
//! that value.

use super::regs::{RA, S0, SP};
use crate::index::{Index, IndexVec};
use crate::ir::SlotId;
use crate::target::frame::{LIMIT, slots_in_order};
use crate::target::machine::{Allocation, Base, MFunction, PReg, PRegSet, SpillId};

/// The layout of a frame.
#[derive(Debug)]
pub struct Frame {
    /// What offsets count from.
    pub base: PReg,
    /// Registers that the prologue saves, the first at `saved_at`, 8 bytes each.
    pub saved: Vec<PReg>,
    pub saved_at: i64,
    /// What the prologue subtracts from sp.
    pub size: i64,
    slots: IndexVec<SlotId, i64>,
    spills: i64,
    /// The offset from sp of the memory that a run-time allocation gives: above the outgoing
    /// arguments.
    pub allocated: i64,
}

impl Frame {
    pub fn new(code: &MFunction, allocation: &Allocation, callee_saved: PRegSet) -> Frame {
        let mut registers = allocation.used.intersection(callee_saved);
        if code.dynamic {
            registers.insert(S0);
        }
        let mut saved: Vec<PReg> = code.calls.then_some(RA).into_iter().collect();
        saved.extend(registers.iter());
        let outgoing = code.outgoing;
        let spills = outgoing + 8 * saved.len() as u64;
        let mut at = spills + 8 * allocation.spills.len() as u64;
        let mut slots = IndexVec::filled(0i64, code.slots.len());
        for s in slots_in_order(code) {
            let slot = &code.slots[s];
            assert!(slot.align <= 16, "no slot asks for more than the stack's alignment");
            at = at.next_multiple_of(u64::from(slot.align));
            slots[s] = at as i64;
            at = at.saturating_add(slot.size).min(LIMIT);
        }
        at = at.next_multiple_of(8) + code.extra as u64;
        Frame {
            base: if code.dynamic { S0 } else { SP },
            saved,
            saved_at: outgoing as i64,
            size: at.next_multiple_of(16) as i64,
            slots,
            spills: spills as i64,
            allocated: outgoing as i64,
        }
    }

    /// True if the function returns with nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The offset of a spill slot from the base.
    pub fn spill(&self, s: SpillId) -> i64 {
        self.spills + 8 * s.index() as i64
    }

    /// A part of the frame as register and offset; `None` for other bases.
    pub fn address(&self, base: Base) -> Option<(PReg, i64)> {
        match base {
            Base::Slot(s) => Some((self.base, self.slots[s])),
            Base::Incoming => Some((self.base, self.size)),
            Base::Outgoing => Some((SP, 0)),
            Base::None | Base::Reg(_) | Base::Symbol(..) | Base::Pool(..) => None,
        }
    }
}
