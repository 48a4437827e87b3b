//! Where values that leave registers are stored, and in which spill slots.
//!
//! A value is stored once, where it is defined, or at each eviction, whichever runs less often: what
//! only a rare path needs in memory costs nothing elsewhere. A phi that is in memory from the
//! start is stored by the edges into its block.
//!
//! Slots are shared by values whose live ranges are apart, by one scan over ranges from the first
//! to the last instruction; a phi in memory asks for the slot of its arguments.

use super::liveness::Liveness;
use super::spill::Plan;
use crate::index::{Index, IndexVec};
use crate::target::machine::{MFunction, Role, SpillId, VReg};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a value is stored.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Store {
    Never,
    /// Right after its definition.
    Definition,
    /// Before each eviction, and on each edge that evicts it.
    Eviction,
}

pub struct Slots {
    pub store: IndexVec<VReg, Store>,
    pub slot: IndexVec<VReg, Option<SpillId>>,
    pub table: IndexVec<SpillId, ()>,
}

impl Slots {
    pub fn new(code: &MFunction, live: &Liveness, plan: &Plan) -> Slots {
        let mut slots = Slots {
            store: IndexVec::filled(Store::Never, code.vregs.len()),
            slot: IndexVec::filled(None, code.vregs.len()),
            table: IndexVec::new(),
        };
        if plan.memory.is_empty() {
            return slots;
        }
        slots.choose_stores(code, live, plan);
        if code.returns_twice {
            for v in plan.memory.iter() {
                slots.slot[v] = Some(slots.table.push(()));
            }
        } else {
            slots.share(code, live, plan);
        }
        slots
    }

    fn choose_stores(&mut self, code: &MFunction, live: &Liveness, plan: &Plan) {
        for v in plan.memory.iter() {
            let home = live.definition[v];
            let in_memory = home.inst.is_none() && !plan.entry(home.block).contains(&v);
            self.store[v] = if in_memory {
                Store::Never
            } else if code.blocks[home.block].frequency <= plan.evictions[v.index()] {
                Store::Definition
            } else {
                Store::Eviction
            };
        }
    }

    /// Gives slots by a scan over the ranges in the order of their starts.
    fn share(&mut self, code: &MFunction, live: &Liveness, plan: &Plan) {
        let ranges = ranges(code, live, plan);
        let mut order: Vec<VReg> = plan.memory.iter().collect();
        order.sort_by_key(|v| ranges[v.index()].0);
        let related = related(code, plan);
        // When each slot is free again; the heap may hold outdated ends.
        let mut free_at: IndexVec<SpillId, u32> = IndexVec::new();
        let mut heap: BinaryHeap<Reverse<(u32, SpillId)>> = BinaryHeap::new();
        for v in order {
            let (start, end) = ranges[v.index()];
            let near = related[v.index()];
            let far = near.and_then(|r: VReg| related[r.index()]);
            let mut slot = [near, far]
                .into_iter()
                .flatten()
                .filter_map(|other| self.slot[other])
                .find(|&s| free_at[s] <= start);
            while slot.is_none() {
                match heap.peek() {
                    Some(&Reverse((at, s))) if at <= start => {
                        heap.pop();
                        slot = (free_at[s] == at).then_some(s);
                    }
                    _ => break,
                }
            }
            let slot = slot.unwrap_or_else(|| {
                free_at.push(0);
                self.table.push(())
            });
            free_at[slot] = end;
            heap.push(Reverse((end, slot)));
            self.slot[v] = Some(slot);
        }
    }
}

/// The first and the end of the instructions that the range of each value in memory spans.
fn ranges(code: &MFunction, live: &Liveness, plan: &Plan) -> Vec<(u32, u32)> {
    let mut ranges = vec![(0, 0); code.vregs.len()];
    for v in plan.memory.iter() {
        let home = live.definition[v];
        let start = live.first(home.block) + home.inst.unwrap_or(0);
        ranges[v.index()] = (start, start + 1);
    }
    let mut extend = |v: VReg, end: u32| {
        let range = &mut ranges[v.index()];
        range.1 = range.1.max(end);
    };
    for (b, block) in code.blocks.enumerate() {
        let end_of = |p| live.first(p) + code.blocks[p].insts.len() as u32;
        let last = block.preds.iter().map(|&p| end_of(p)).max().unwrap_or(0);
        for &(v, _) in live.live_in(b) {
            extend(v, last.max(live.first(b) + 1));
        }
        for out in live.outgoing(b) {
            extend(out.arg, end_of(b));
        }
        for (i, inst) in block.insts.iter().enumerate() {
            for operand in code.operands(inst).iter().filter(|o| o.role == Role::Use) {
                extend(operand.reg, live.first(b) + i as u32 + 1);
            }
        }
    }
    ranges
}

/// For values in memory: one that a phi in memory connects them with.
fn related(code: &MFunction, plan: &Plan) -> Vec<Option<VReg>> {
    let mut related = vec![None; code.vregs.len()];
    for (b, block) in code.blocks.enumerate() {
        for phi in block.phis.iter().filter(|phi| plan.memory.contains(phi.to)) {
            if plan.entry(b).contains(&phi.to) {
                continue;
            }
            for &(_, arg) in phi.args.iter().filter(|(_, arg)| plan.memory.contains(*arg)) {
                related[arg.index()] = Some(phi.to);
                related[phi.to.index()].get_or_insert(arg);
            }
        }
    }
    related
}
