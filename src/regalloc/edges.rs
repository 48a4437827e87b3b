//! The moves between blocks: what predecessors have where, to where their successor wants it, phis
//! included.

use super::Pool;
use super::assign::{Assigned, remote};
use super::liveness::{DEAD, Liveness};
use super::moves::{Move, Source};
use super::slots::{Slots, Store};
use super::spill::Plan;
use crate::index::{Index, IndexVec};
use crate::ir::BlockId;
use crate::target::machine::{Allocation, Location, MFunction, PReg, PRegSet, Role, Step, VReg};

/// Adds the moves of all edges and makes the result.
pub fn finish(
    code: &MFunction,
    pool: &Pool,
    live: &Liveness,
    plan: &Plan,
    slots: &Slots,
    assigned: Assigned,
) -> Allocation {
    let mut edges = Edges {
        code,
        pool,
        live,
        plan,
        slots,
        out: assigned,
        at: IndexVec::filled(None, code.vregs.len()),
        live_in: vec![0; code.vregs.len()],
        moves: Vec::new(),
        steps: Vec::new(),
    };
    for b in code.blocks.indices() {
        for &p in &code.blocks[b].preds {
            edges.edge(p, b);
        }
    }
    let out = edges.out;
    let used = used(code, &out);
    Allocation { steps: out.steps, locations: out.locations, spills: out.spills, used }
}

struct Edges<'a> {
    code: &'a MFunction,
    pool: &'a Pool,
    live: &'a Liveness,
    plan: &'a Plan,
    slots: &'a Slots,
    out: Assigned,
    /// The registers of values at the end of the predecessor.
    at: IndexVec<VReg, Option<PReg>>,
    /// The last block (by number, from 1) that a value was found to be live into.
    live_in: Vec<u32>,
    moves: Vec<Move>,
    steps: Vec<Step>,
}

impl Edges<'_> {
    fn edge(&mut self, p: BlockId, b: BlockId) {
        let (live, plan) = (self.live, self.plan);
        let exit = plan.exit(p);
        let exit_first = plan.exit_first(p);
        let mut occupied = PRegSet::EMPTY;
        for (n, &v) in exit.iter().enumerate() {
            let r = self.out.exit[exit_first + n];
            self.at[v] = Some(r);
            occupied.insert(r);
        }
        self.evict(exit, p, b);
        let entry_first = plan.entry_first(b);
        for (n, &v) in plan.entry(b).iter().enumerate() {
            let to = self.out.entry[entry_first + n];
            occupied.insert(to);
            let home = live.definition[v];
            if home.block != b || home.inst.is_some() {
                self.add(v, v, Location::Reg(to));
            }
        }
        for out in live.outgoing(p).iter().filter(|out| out.block == b) {
            if live.phi_next(b)[out.phi as usize] == DEAD {
                continue;
            }
            let phi = self.code.blocks[b].phis[out.phi as usize].to;
            let to = match plan.entry(b).iter().position(|&v| v == phi) {
                Some(n) => Location::Reg(self.out.entry[entry_first + n]),
                None => Location::Spill(self.slots.slot[phi].expect("a phi in memory")),
            };
            self.add(out.arg, phi, to);
        }
        if !self.moves.is_empty() {
            let free = self.pool.scratch(self.out.used).without(occupied);
            self.out.resolver.run(&self.moves, free, &mut self.out.spills, &mut self.steps);
            self.moves.clear();
        }
        self.place(p, b);
        for &v in exit {
            self.at[v] = None;
        }
    }

    /// Stores what the successor has only in memory.
    fn evict(&mut self, exit: &[VReg], p: BlockId, b: BlockId) {
        if exit.iter().all(|&v| self.slots.store[v] != Store::Eviction) {
            return;
        }
        let mark = b.index() as u32 + 1;
        for &(v, _) in self.live.live_in(b) {
            self.live_in[v.index()] = mark;
        }
        for &v in self.plan.entry(b) {
            self.live_in[v.index()] = 0;
        }
        let first = self.plan.exit_first(p);
        for (n, &v) in exit.iter().enumerate() {
            if self.live_in[v.index()] == mark && self.slots.store[v] == Store::Eviction {
                let slot = self.slots.slot[v].expect("is in memory");
                let from = Location::Reg(self.out.exit[first + n]);
                let size = self.code.vregs[v].size;
                self.steps.push(Step::Move { from, to: Location::Spill(slot), size });
            }
        }
    }

    /// Brings `v`, as the predecessor has it, to where `to_value` begins.
    fn add(&mut self, v: VReg, to_value: VReg, to: Location) {
        let from = match self.at[v] {
            Some(r) => Source::At(Location::Reg(r)),
            None => remote(self.code, self.live, self.slots, v),
        };
        if from != Source::At(to) {
            let info = self.code.vregs[to_value];
            self.moves.push(Move { from, to, bank: info.bank, size: info.size });
        }
    }

    /// Puts the steps where only this edge runs them.
    fn place(&mut self, p: BlockId, b: BlockId) {
        if self.steps.is_empty() {
            return;
        }
        if self.code.blocks[p].succs.len() == 1 {
            let steps = &mut self.out.steps[p];
            let jump = steps.pop().expect("a block ends in its terminator");
            steps.append(&mut self.steps);
            steps.push(jump);
        } else {
            debug_assert_eq!(self.code.blocks[b].preds.len(), 1, "critical edges are split");
            let mut steps = std::mem::take(&mut self.steps);
            steps.append(&mut self.out.steps[b]);
            self.out.steps[b] = steps;
        }
    }
}

/// Every register that something is written to.
fn used(code: &MFunction, out: &Assigned) -> PRegSet {
    let mut used = PRegSet::EMPTY;
    let mut write = |location: Location| {
        if let Location::Reg(r) = location {
            used.insert(r);
        }
    };
    for (b, steps) in out.steps.enumerate() {
        for step in steps {
            match *step {
                Step::Inst(i) => {
                    let inst = &code.blocks[b].insts[i as usize];
                    for (k, operand) in code.operands(inst).iter().enumerate() {
                        if operand.role != Role::Use
                            && let Some(location) = out.locations[inst.first as usize + k]
                        {
                            write(location);
                        }
                    }
                }
                Step::Move { to, .. } => write(to),
                Step::Swap(a, b) => {
                    write(Location::Reg(a));
                    write(Location::Reg(b));
                }
                Step::Rematerialise { to, .. } => write(Location::Reg(to)),
            }
        }
    }
    used
}
