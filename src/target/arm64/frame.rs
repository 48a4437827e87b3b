//! The frame of a function: where its slots, spills and saved registers are.
//!
//! ```text
//!   small frames                      others
//!   incoming stack arguments          incoming stack arguments
//!   slots                             saved registers            <- x29, if there is a record
//!   spills                            slots
//!   saved registers  <- sp, x29       spills
//!                                     outgoing stack arguments   <- sp
//! ```
//!
//! In a small frame, without outgoing arguments, the instruction that saves the first registers
//! moves the stack pointer too; in others it moves it past the registers, and a subtraction does the
//! rest. A function that allocates at run time has the registers below its slots and counts offsets
//! from x29, in all others they count from the stack pointer. Nothing below it is ever used.

use super::regs::{FP, LR, SP};
use crate::index::{Index, IndexVec};
use crate::ir::SlotId;
use crate::target::frame::{LIMIT, slots_in_order};
use crate::target::machine::{Allocation, Bank, Base, MFunction, PReg, PRegSet, SpillId};
use smallvec::SmallVec;

/// One or two registers of one file that are saved together.
pub type Saved = SmallVec<[PReg; 2]>;

/// The layout of a frame.
#[derive(Debug)]
pub struct Frame {
    /// What offsets count from.
    pub base: PReg,
    /// x29 points to where it and the return address are saved: the first two.
    pub record: bool,
    /// In the order of their places.
    pub saved: Vec<Saved>,
    /// Bytes that the first store of saved registers moves the stack pointer by. 0: it does not.
    pub push: u64,
    /// Bytes that it is moved by in addition.
    pub rest: u64,
    /// Where the saved registers are, from the stack pointer after the prologue.
    pub save_at: u64,
    slots: IndexVec<SlotId, i64>,
    spills: i64,
    incoming: i64,
    outgoing: i64,
}

/// The saved registers, two by two where that goes.
fn saved_registers(
    code: &MFunction,
    allocation: &Allocation,
    callee_saved: PRegSet,
    record: bool,
) -> Vec<Saved> {
    let mut ints: Vec<PReg> = Vec::new();
    if record {
        ints.extend([FP, LR]);
    } else if code.calls {
        ints.push(LR);
    }
    let used = allocation.used.intersection(callee_saved);
    ints.extend(used.in_bank(Bank::Int).iter().filter(|&r| !record || r != FP));
    let floats: Vec<PReg> = used.in_bank(Bank::Float).iter().collect();
    let mut all: Vec<Saved> =
        ints.chunks(2).chain(floats.chunks(2)).map(SmallVec::from_slice).collect();
    // A pair can move the stack pointer further than a single register can.
    if all.len() > 1 && all[0].len() == 1 {
        all.swap(0, 1);
    }
    all
}

impl Frame {
    pub fn new(code: &MFunction, allocation: &Allocation, callee_saved: PRegSet) -> Frame {
        let record = code.frame_pointer || code.dynamic;
        let saved = saved_registers(code, allocation, callee_saved, record);
        let save_bytes = saved.iter().map(|s| 8 * s.len() as u64).sum::<u64>();
        let outgoing = code.outgoing.next_multiple_of(16);
        let spill_bytes = 8 * allocation.spills.len() as u64;

        // Offsets from the stack pointer, with the saved registers at the bottom and not.
        let (mut slots, mut spills, mut end) = place(code, outgoing + save_bytes, spill_bytes);
        let mut save_at = outgoing;
        let mut size = end.next_multiple_of(16);
        let reach = if saved.first().is_some_and(|s| s.len() == 1) { 255 } else { 504 };
        let mut push = if outgoing == 0 && size <= reach { size } else { 0 };
        if push == 0 && !code.dynamic {
            (slots, spills, end) = place(code, outgoing, spill_bytes);
            push = save_bytes.next_multiple_of(16);
            save_at = end.next_multiple_of(16);
            size = save_at + push;
        }
        if saved.is_empty() {
            push = 0;
        }
        let below_base = if code.dynamic { save_at as i64 } else { 0 };
        for offset in slots.iter_mut() {
            *offset -= below_base;
        }
        Frame {
            base: if code.dynamic { FP } else { SP },
            record,
            saved,
            push,
            rest: size - push,
            save_at,
            slots,
            spills: spills - below_base,
            incoming: size as i64 - below_base,
            outgoing: outgoing as i64,
        }
    }

    /// True if the function returns with nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.saved.is_empty() && self.rest == 0
    }

    /// The offset of a spill slot from the base.
    pub fn spill(&self, s: SpillId) -> i64 {
        self.spills + 8 * s.index() as i64
    }

    /// The offset from the stack pointer of the memory that a run-time allocation gives: above the
    /// outgoing arguments.
    pub fn allocated(&self) -> i64 {
        self.outgoing
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

/// Places spills and slots from `at` on: the slots' offsets, the spills', and where they end.
fn place(code: &MFunction, at: u64, spill_bytes: u64) -> (IndexVec<SlotId, i64>, i64, u64) {
    let spills = at as i64;
    let mut at = at + spill_bytes;
    let mut slots = IndexVec::filled(0i64, code.slots.len());
    for s in slots_in_order(code) {
        let slot = &code.slots[s];
        assert!(slot.align <= 16, "no slot asks for more than the stack's alignment");
        at = at.next_multiple_of(u64::from(slot.align));
        slots[s] = at as i64;
        at = at.saturating_add(slot.size).min(LIMIT);
    }
    (slots, spills, at)
}
