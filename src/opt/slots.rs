//! Allocations of the entry block that have a constant size become slots of the frame.
//!
//! The entry runs once, so each such allocation is one object for the whole call. Others allocate
//! each time they run and stay instructions; so do objects that would make the frame larger than
//! [`FRAME_LIMIT`], where displacements end.
//!
//! Needs SSA form. Changes no block and no edge.

use super::Env;
use crate::analysis::Facts;
use crate::index::IndexVec;
use crate::ir::{Class, Function, Ref, Slot, SlotId, TempId, for_each_use_mut};

/// Bytes of all slots together.
const FRAME_LIMIT: u64 = 1 << 30;

/// Makes the slots of `f`; true if there are any.
pub fn run(f: &mut Function, _facts: &Facts, _env: &Env<'_>) -> bool {
    let mut slot_of: IndexVec<TempId, Option<Ref>> = IndexVec::filled(None, f.temps.len());
    let entry = f.entry();
    let mut insts = std::mem::take(&mut f.blocks[entry].insts);
    let before = insts.len();
    let mut total = 0u64;
    insts.retain(|inst| {
        let (Some(align), Some(to)) = (inst.op.alloc_align(), inst.to) else { return true };
        let Some(size) = f.bits_as(inst.args[0], Class::L) else { return true };
        let sum = total.saturating_add(size).saturating_add(u64::from(align));
        if sum > FRAME_LIMIT {
            return true;
        }
        total = sum;
        let name = f.temps[to].name;
        slot_of[to] = Some(Ref::slot(f.slots.push(Slot { size, align, name })));
        false
    });
    let changed = insts.len() != before;
    f.blocks[entry].insts = insts;
    if changed {
        replace(f, &slot_of);
    }
    changed
}

fn replace(f: &mut Function, slot_of: &IndexVec<TempId, Option<Ref>>) {
    for_each_operand(f, |r| {
        if let Some(slot) = r.as_temp().and_then(|t| slot_of[t]) {
            *r = slot;
        }
    });
}

/// Drops the slots whose row in `kept` is false, which nothing may name, and gives the others new
/// numbers.
pub fn retain_slots(f: &mut Function, kept: &[bool]) {
    if kept.iter().all(|&k| k) {
        return;
    }
    let mut new: IndexVec<SlotId, Ref> = IndexVec::with_capacity(f.slots.len());
    let mut slots = IndexVec::new();
    for (slot, &keep) in f.slots.iter().zip(kept) {
        new.push(if keep { Ref::slot(slots.push(*slot)) } else { Ref::ZERO });
    }
    f.slots = slots;
    if f.slots.is_empty() {
        return;
    }
    for_each_operand(f, |r| {
        if let Some(s) = r.as_slot() {
            *r = new[s];
        }
    });
}

/// Calls `change` on every operand of the function.
pub fn for_each_operand(f: &mut Function, mut change: impl FnMut(&mut Ref)) {
    let Function { blocks, calls, .. } = f;
    for block in blocks.iter_mut() {
        block.phis.iter_mut().flat_map(|phi| &mut phi.args).for_each(|(_, r)| change(r));
        for inst in &mut block.insts {
            for_each_use_mut(inst, calls, &mut change);
        }
        if let Some(r) = block.jump.arg_mut() {
            change(r);
        }
    }
}
