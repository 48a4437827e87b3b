//! The frame of a function: where its slots, spills and saved registers are.
//!
//! ```text
//!   incoming stack arguments
//!   return address
//!   rbp, with a frame pointer only          <- rbp, if so
//!   saved registers, one push each
//!   saved vector registers, 16 bytes each (Windows)
//!   slots: the most used per byte last
//!   spills
//!   outgoing stack arguments                <- rsp
//! ```
//!
//! Offsets count from rsp, or from rbp in a function that keeps a frame pointer, which one does that
//! allocates at run time. The space below rsp is never used: the code may run in a kernel, where
//! interrupts take it.
//!
//! The unwinder of Windows counts from rbp only what is below a place that rbp is 16 times 0 to 15
//! bytes above, and undoes the rest of the prologue from there. So rbp is set when the stack pointer
//! is at that place: behind the saved registers, which are 216 bytes at most.

use super::regs::{RBP, RSP};
use crate::index::{Index, IndexVec};
use crate::ir::SlotId;
use crate::target::frame::{LIMIT, slots_in_order};
use crate::target::machine::{Allocation, Bank, Base, MFunction, PReg, PRegSet, SpillId};

/// The layout of a frame.
#[derive(Debug)]
pub struct Frame {
    /// What offsets count from.
    pub base: PReg,
    /// Registers that the prologue pushes, in order, rbp as the frame pointer not counted.
    pub saved: Vec<PReg>,
    /// Registers that the prologue stores, and where, counted from the base.
    pub vectors: Vec<(PReg, i64)>,
    /// What the prologue subtracts from rsp after the pushes.
    pub size: u64,
    /// So much of it before it sets rbp, where that comes after the pushes (Windows).
    pub first: u64,
    slots: IndexVec<SlotId, i64>,
    spills: i64,
    incoming: i64,
    outgoing: i64,
    /// The offset of a spill slot next to the base, in a frame too large for displacements.
    pub emergency: Option<i64>,
}

impl Frame {
    pub fn new(code: &MFunction, allocation: &Allocation, callee_saved: PRegSet) -> Frame {
        let mut saved = allocation.used.intersection(callee_saved);
        // The base is above everything.
        let above = code.dynamic || code.frame_pointer;
        if above {
            saved.remove(RBP);
        }
        let vectors = saved.in_bank(Bank::Float);
        let saved: Vec<PReg> = saved.in_bank(Bank::Int).iter().collect();
        let order = slots_in_order(code);

        let spill_bytes = 8 * allocation.spills.len() as u64;
        let mut at = code.outgoing.next_multiple_of(if code.dynamic { 16 } else { 8 });
        let outgoing = at;
        let total = order
            .iter()
            .fold(at + spill_bytes, |sum, &s| sum.saturating_add(code.slots[s].size).min(LIMIT));
        let far = total > i32::MAX as u64 / 2;
        at += if far && !above { 8 } else { 0 };
        // In a frame that far the prologue stores near rsp, in short instructions.
        let vectors_low = far && !above;
        let mut vectors_at = at.next_multiple_of(16);
        if vectors_low && !vectors.is_empty() {
            at = vectors_at + 16 * u64::from(vectors.len());
        }
        let spills = at;
        at += spill_bytes;

        let mut slots = IndexVec::filled(0i64, code.slots.len());
        let mut align = if code.calls || code.dynamic { 16 } else { 8 };
        for s in order {
            let slot = &code.slots[s];
            assert!(slot.align <= 16, "no slot asks for more than the stack's alignment");
            align = align.max(u64::from(slot.align));
            at = at.next_multiple_of(u64::from(slot.align));
            slots[s] = at as i64;
            at = at.saturating_add(slot.size).min(LIMIT);
        }

        if !vectors.is_empty() {
            align = 16;
            if !vectors_low {
                vectors_at = at.next_multiple_of(16);
                at = vectors_at + 16 * u64::from(vectors.len());
            }
        }

        // rsp of a function that allocates is not where it was: there the slot is next to rbp.
        at += if far && above { 8 } else { 0 };

        // Pushes of 8 bytes each are between the frame and an address that is a multiple of 16.
        let saved_bytes = 8 * saved.len() as u64;
        let pushed = saved_bytes + if above { 16 } else { 8 };
        let size = (at + pushed).next_multiple_of(align) - pushed;
        // What is to be above the place that rbp counts from on Windows; all, if that goes.
        let least = if vectors.is_empty() { saved_bytes % 16 } else { size - vectors_at };
        let first = if least == 0 || saved_bytes + size > 240 { least } else { size };
        let below_base = if above { (size + saved_bytes) as i64 } else { 0 };
        let nearest = if above { size as i64 - 8 } else { outgoing as i64 };
        for offset in slots.iter_mut() {
            *offset -= below_base;
        }
        Frame {
            base: if above { RBP } else { RSP },
            saved,
            vectors: vectors
                .iter()
                .zip(0..)
                .map(|(r, n)| (r, vectors_at as i64 - below_base + 16 * n))
                .collect(),
            size,
            first,
            slots,
            spills: spills as i64 - below_base,
            incoming: if above { 16 } else { (size + pushed) as i64 },
            outgoing: outgoing as i64,
            emergency: far.then_some(nearest - below_base),
        }
    }

    /// True if the function returns with nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.size == 0 && self.saved.is_empty() && self.base == RSP
    }

    /// The offset of a spill slot from the base.
    pub fn spill(&self, s: SpillId) -> i64 {
        self.spills + 8 * s.index() as i64
    }

    /// The offset from rsp of the memory that a run-time allocation gives: above the outgoing
    /// arguments.
    pub fn allocated(&self) -> i64 {
        self.outgoing
    }

    /// A part of the frame as register and offset; `None` for other bases.
    pub fn address(&self, base: Base) -> Option<(PReg, i64)> {
        match base {
            Base::Slot(s) => Some((self.base, self.slots[s])),
            Base::Incoming => Some((self.base, self.incoming)),
            Base::Outgoing => Some((RSP, 0)),
            Base::None | Base::Reg(_) | Base::Symbol(..) | Base::Pool(..) => None,
        }
    }
}
