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
//!
//! With a frame pointer the saved registers are above the slots, downwards from the return address
//! and the caller's s0, and s0 points behind them: to the caller's frame, or to the registers of
//! variadic arguments. A function that allocates at run time counts offsets from there. A frame that
//! its first stores would not reach from its end is made in two steps.

use super::regs::{RA, S0, SP};
use crate::index::{Index, IndexVec};
use crate::ir::SlotId;
use crate::target::frame::{LIMIT, slots_in_order};
use crate::target::machine::{Allocation, Base, MFunction, PReg, PRegSet, SpillId};

/// What compressed stores reach.
const REACH: u64 = 512;

/// The layout of a frame.
#[derive(Debug)]
pub struct Frame {
    /// What offsets count from.
    pub base: PReg,
    /// Registers that the prologue saves, and their offsets from sp at that time.
    pub saved: Vec<(PReg, i64)>,
    /// What the prologue subtracts from sp before that, and after that.
    pub first: i64,
    pub rest: i64,
    /// Where s0 points to, from sp when the registers have been saved, if it is set at all.
    pub pointer: Option<i64>,
    incoming: i64,
    slots: IndexVec<SlotId, i64>,
    spills: i64,
    /// The offset from sp of the memory that a run-time allocation gives: above the outgoing
    /// arguments.
    pub allocated: i64,
}

impl Frame {
    pub fn new(code: &MFunction, allocation: &Allocation, callee_saved: PRegSet) -> Frame {
        let mut registers = allocation.used.intersection(callee_saved);
        if code.dynamic || code.frame_pointer {
            registers.insert(S0);
        }
        let link = code.calls || code.frame_pointer;
        // s0 has the lowest number of all that are saved.
        let saved: Vec<PReg> = link.then_some(RA).into_iter().chain(registers.iter()).collect();
        let saved_bytes = 8 * saved.len() as u64;
        let (below, above) = if code.frame_pointer { (0, saved_bytes) } else { (saved_bytes, 0) };
        let extra = code.extra as u64;
        let outgoing = code.outgoing;
        let spills = outgoing + below;
        let mut at = spills + 8 * allocation.spills.len() as u64;
        let mut slots = IndexVec::filled(0i64, code.slots.len());
        for s in slots_in_order(code) {
            let slot = &code.slots[s];
            assert!(slot.align <= 16, "no slot asks for more than the stack's alignment");
            at = at.next_multiple_of(u64::from(slot.align));
            slots[s] = at as i64;
            at = at.saturating_add(slot.size).min(LIMIT);
        }
        let size = (at.next_multiple_of(8) + above + extra).next_multiple_of(16);
        let first = match code.frame_pointer && size > REACH {
            true => (above + extra).next_multiple_of(16),
            false => size,
        };
        let top = (first - extra) as i64;
        let place = |n: i64| match code.frame_pointer {
            true => top - 8 * (n + 1),
            false => outgoing as i64 + 8 * n,
        };
        let pointer = if code.frame_pointer { Some(top) } else { code.dynamic.then_some(0) };
        // In a function that allocates, offsets count from s0.
        let to_base = if code.dynamic && code.frame_pointer { (size - extra) as i64 } else { 0 };
        for offset in slots.iter_mut() {
            *offset -= to_base;
        }
        Frame {
            base: if code.dynamic { S0 } else { SP },
            saved: saved.into_iter().zip(0..).map(|(r, n)| (r, place(n))).collect(),
            first: first as i64,
            rest: (size - first) as i64,
            pointer,
            incoming: size as i64 - to_base,
            slots,
            spills: spills as i64 - to_base,
            allocated: outgoing as i64,
        }
    }

    /// True if the function returns with nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }

    /// The offset of a spill slot from the base.
    pub fn spill(&self, s: SpillId) -> i64 {
        self.spills + 8 * s.index() as i64
    }

    /// A part of the frame as register and offset; `None` for other bases.
    pub fn address(&self, base: Base) -> Option<(PReg, i64)> {
        match base {
            Base::Slot(s) => Some((self.base, self.slots[s])),
            Base::Incoming => Some((self.base, self.incoming)),
            Base::Outgoing => Some((SP, 0)),
            Base::None | Base::Reg(_) | Base::Symbol(..) | Base::Pool(..) => None,
        }
    }
}
