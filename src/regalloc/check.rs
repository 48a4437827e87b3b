//! Proves an allocation by symbolic replay.
//!
//! The state at a point says of each location which values it is known to hold. The lattice: a
//! location maps to a set of values, ordered by inclusion; *top* is a block not reached yet (all
//! sets full), *bottom* the empty set (nothing known), and states meet by intersection location
//! by location. Reading `v` from a location is right if `v` is in its set, whatever path led there.
//!
//! - A move makes the destination's set that of the source (less what is wider than the move).
//! - An instruction checks its uses, then empties what it clobbers, then makes each definition's
//!   set just its value. A new value of `v` also takes `v` out of all other sets: what they hold is
//!   the one of the trip round the loop before.
//! - At a phi, each location that holds the argument on the edge holds the phi as well.
//! - A copy makes no instruction: source and destination count as one value, and so do a phi and
//!   its argument in a block with one predecessor. (In SSA form the source cannot change where
//!   the copy is alive.)
//!
//! States only shrink, so the worklist ends. The idea is that of the checker of regalloc2.

use super::Pool;
use crate::index::{Index, IndexVec};
use crate::ir::BlockId;
use crate::target::machine::{
    Allocation, Constraint, Location, MFunction, MInst, Operand, PReg, PRegSet, Registers, Role,
    Step, VReg, op,
};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Whether the allocation computes what the function says. Else: where not.
pub fn check(
    code: &MFunction,
    allocation: &Allocation,
    registers: &Registers,
) -> Result<(), String> {
    let (same, width) = copies(code);
    let mut checker = Checker {
        code,
        allocation,
        registers,
        pool: Pool::new(code, registers, &super::Options::default()),
        same,
        width,
        written: PRegSet::EMPTY,
    };
    let mut at_start: IndexVec<BlockId, Option<State>> = IndexVec::filled(None, code.blocks.len());
    let entry = code.blocks.indices().next().ok_or("no blocks")?;
    at_start[entry] = Some(State::default());
    let mut work = std::collections::BTreeSet::from([entry]);
    while let Some(b) = work.pop_first() {
        let mut state = at_start[b].clone().expect("queued with a state");
        checker.block(b, &mut state)?;
        for &s in &code.blocks[b].succs {
            let arriving = checker.through_phis(b, s, &state);
            let changed = match &mut at_start[s] {
                Some(known) => known.meet(&arriving),
                unreached => {
                    *unreached = Some(arriving);
                    true
                }
            };
            if changed {
                work.insert(s);
            }
        }
    }
    let missing = checker.written.without(allocation.used);
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("{missing:?} are written but not in `used`"))
    }
}

/// Values, each with how many of its low bytes are known to be there; sorted.
type Values = SmallVec<[(VReg, u8); 2]>;

/// What each location is known to hold; no set is empty.
#[derive(Clone, Default, PartialEq)]
struct State {
    holds: BTreeMap<(u8, usize), Values>,
}

fn key(location: Location) -> (u8, usize) {
    match location {
        Location::Reg(r) => (0, r.index()),
        Location::Spill(s) => (1, s.index()),
    }
}

impl State {
    fn get(&self, location: Location) -> &[(VReg, u8)] {
        self.holds.get(&key(location)).map_or(&[], |v| v)
    }

    fn set(&mut self, location: Location, values: Values) {
        if values.is_empty() {
            self.holds.remove(&key(location));
        } else {
            self.holds.insert(key(location), values);
        }
    }

    /// Forgets the values of `gone` everywhere.
    fn forget(&mut self, gone: &[VReg]) {
        if !gone.is_empty() {
            self.holds.retain(|_, values| {
                values.retain(|(v, _)| !gone.contains(v));
                !values.is_empty()
            });
        }
    }

    /// Keeps what the other state knows too; true if something was lost.
    fn meet(&mut self, other: &State) -> bool {
        let mut changed = false;
        self.holds.retain(|k, values| {
            let before = values.clone();
            let known: &[(VReg, u8)] = other.holds.get(k).map_or(&[], |v| v);
            values.retain(|(v, size)| {
                let same = known.iter().find(|(w, _)| w == v);
                *size = same.map_or(0, |(_, s)| (*s).min(*size));
                same.is_some()
            });
            changed |= *values != before;
            !values.is_empty()
        });
        changed
    }
}

struct Checker<'a> {
    code: &'a MFunction,
    allocation: &'a Allocation,
    registers: &'a Registers,
    pool: Pool,
    /// The value that each value is a copy of, or itself.
    same: IndexVec<VReg, VReg>,
    /// How many bytes of each value count; of a copy, no more than of its source.
    width: IndexVec<VReg, u8>,
    written: PRegSet,
}

impl Checker<'_> {
    /// Replays one block.
    fn block(&mut self, b: BlockId, state: &mut State) -> Result<(), String> {
        let insts = &self.code.blocks[b].insts;
        let steps = self.allocation.steps.get(b).ok_or_else(|| format!("{b:?} has no steps"))?;
        let mut next = 0;
        for (n, step) in steps.iter().enumerate() {
            let place = |what: String| format!("{b:?}, step {n} ({step:?}): {what}");
            match *step {
                Step::Inst(i) => {
                    let inst = insts.get(i as usize).ok_or_else(|| place("no such".into()))?;
                    self.skipped(b, next, i as usize).map_err(place)?;
                    next = i as usize + 1;
                    self.instruction(inst, state).map_err(place)?;
                }
                Step::Move { from, to, size } => {
                    self.moved(from, to, size, state).map_err(place)?;
                }
                Step::Swap(x, y) => {
                    self.write(x).and_then(|()| self.write(y)).map_err(place)?;
                    let [x, y] = [Location::Reg(x), Location::Reg(y)];
                    let (old_x, old_y) = (state.get(x).into(), state.get(y).into());
                    state.set(x, old_y);
                    state.set(y, old_x);
                }
                Step::Rematerialise { block, inst, to } => {
                    self.write(to).map_err(place)?;
                    let v = self.remade(block, inst).map_err(place)?;
                    if self.code.vregs[v].bank != to.bank() {
                        return Err(place("wrong bank".into()));
                    }
                    state.set(Location::Reg(to), self.just(v));
                }
            }
        }
        self.skipped(b, next, insts.len())?;
        match steps.last() {
            Some(Step::Inst(i)) if *i as usize + 1 == insts.len() => Ok(()),
            _ => Err(format!("{b:?} does not end in its terminator")),
        }
    }

    /// Instructions that have no step must be ones that need none.
    fn skipped(&self, b: BlockId, from: usize, to: usize) -> Result<(), String> {
        if to < from {
            return Err(format!("{b:?}: instruction {to} runs twice or too late"));
        }
        for (i, inst) in self.code.blocks[b].insts[from..to].iter().enumerate() {
            let remade = self.remade(b, (from + i) as u32).is_ok();
            if !remade && inst.op != op::COPY && inst.op != op::NOP {
                return Err(format!("{b:?}: instruction {} is left out", from + i));
            }
        }
        Ok(())
    }

    /// The value of an instruction that may be repeated.
    fn remade(&self, b: BlockId, i: u32) -> Result<VReg, String> {
        let block = self.code.blocks.get(b).ok_or("no such block")?;
        let inst = block.insts.get(i as usize).ok_or("no such instruction")?;
        match self.code.operands(inst) {
            [Operand { reg, role: Role::Def | Role::EarlyDef, .. }]
                if self.code.vregs[*reg].rematerialise =>
            {
                Ok(*reg)
            }
            _ => Err(format!("{b:?}, instruction {i} cannot be rematerialised")),
        }
    }

    /// The set of one new value.
    fn just(&self, v: VReg) -> Values {
        [(self.same[v], self.code.vregs[v].size)].into_iter().collect()
    }

    /// Whether all bytes of `v` that count are there.
    fn is_held(&self, v: VReg, held: &[(VReg, u8)]) -> bool {
        held.iter().any(|&(w, known)| w == self.same[v] && known >= self.width[v])
    }

    fn write(&mut self, r: PReg) -> Result<(), String> {
        self.written.insert(r);
        if self.code.reserved.contains(r) { Err(format!("{r:?} is reserved")) } else { Ok(()) }
    }

    fn moved(
        &mut self,
        from: Location,
        to: Location,
        size: u8,
        state: &mut State,
    ) -> Result<(), String> {
        match (from, to) {
            (Location::Spill(_), Location::Spill(_)) => return Err("from slot to slot".into()),
            (Location::Reg(x), Location::Reg(y)) if x.bank() != y.bank() => {
                return Err("between banks".into());
            }
            _ => {}
        }
        if let Location::Reg(r) = to {
            self.write(r)?;
        }
        let values = state.get(from).iter().map(|&(v, known)| (v, known.min(size))).collect();
        state.set(to, values);
        Ok(())
    }

    fn instruction(&mut self, inst: &MInst, state: &mut State) -> Result<(), String> {
        let code = self.code;
        let operands = code.operands(inst);
        let clobbers = code.clobbers(inst);
        let first = inst.first as usize;
        let mut places = Vec::with_capacity(operands.len());
        for k in 0..operands.len() {
            let place = self.allocation.locations.get(first + k).copied().flatten();
            places.push(place.ok_or_else(|| format!("operand {k} has no location"))?);
        }
        for (k, operand) in operands.iter().enumerate() {
            self.fits(operands, &places, k, clobbers).map_err(|e| format!("operand {k}: {e}"))?;
            if operand.role == Role::Use {
                let held = state.get(places[k]);
                if !self.is_held(operand.reg, held) {
                    let (v, place) = (operand.reg, places[k]);
                    return Err(format!("operand {k}: {place:?} holds {held:?}, not {v:?}"));
                }
            }
        }
        for r in clobbers.iter() {
            state.set(Location::Reg(r), Values::new());
        }
        if code.returns_twice && self.pool.is_call(clobbers) {
            state.holds.retain(|k, _| k.0 != 0);
        }
        let defined: SmallVec<[VReg; 2]> =
            operands.iter().filter(|o| o.role != Role::Use).map(|o| self.same[o.reg]).collect();
        state.forget(&defined);
        for (k, operand) in operands.iter().enumerate() {
            if operand.role != Role::Use {
                if let Location::Reg(r) = places[k] {
                    self.write(r)?;
                }
                state.set(places[k], self.just(operand.reg));
            }
        }
        Ok(())
    }

    /// Whether an operand's place satisfies its constraint and is apart from others.
    fn fits(
        &self,
        operands: &[Operand],
        places: &[Location],
        k: usize,
        clobbers: PRegSet,
    ) -> Result<(), String> {
        let operand = &operands[k];
        let bank = self.code.vregs[operand.reg].bank;
        let Location::Reg(r) = places[k] else {
            let may = operand.constraint == Constraint::Any && operand.role == Role::Use;
            return if may { Ok(()) } else { Err("is not in a register".into()) };
        };
        if r.bank() != bank {
            return Err(format!("{r:?} is of the wrong bank"));
        }
        match operand.constraint {
            Constraint::Fixed(want) if want != r => return Err(format!("{r:?}, not {want:?}")),
            Constraint::Reuse(u) if places.get(u as usize) != Some(&places[k]) => {
                return Err("is not where the use is".into());
            }
            Constraint::Fixed(_) | Constraint::Reuse(_) => {}
            Constraint::Reg | Constraint::Any => {
                let usable = self.registers.order(bank).contains(&r);
                if !usable || self.code.reserved.contains(r) {
                    return Err(format!("{r:?} is not for temporaries"));
                }
            }
        }
        if operand.role == Role::Use {
            return Ok(());
        }
        let free = matches!(operand.constraint, Constraint::Fixed(_));
        if clobbers.contains(r) && !free {
            return Err(format!("{r:?} is clobbered"));
        }
        for (n, other) in operands.iter().enumerate().filter(|(n, _)| *n != k) {
            let matters = other.role != Role::Use || operand.role == Role::EarlyDef;
            if matters && places[n] == places[k] {
                return Err(format!("{r:?} is also that of {:?}", other.reg));
            }
        }
        Ok(())
    }

    /// The state an edge hands on, with the phis of its target.
    fn through_phis(&self, p: BlockId, b: BlockId, state: &State) -> State {
        let phis = &self.code.blocks[b].phis;
        let mut next = state.clone();
        if phis.is_empty() || self.code.blocks[b].preds.len() == 1 {
            return next;
        }
        let pairs: Vec<(VReg, VReg)> = phis
            .iter()
            .filter_map(|phi| {
                let arg = phi.args.iter().find(|(from, _)| *from == p)?.1;
                Some((arg, phi.to))
            })
            .collect();
        let gone: Vec<VReg> = phis.iter().map(|phi| self.same[phi.to]).collect();
        next.forget(&gone);
        for (k, values) in &state.holds {
            let mut new: Values = next.holds.get(k).cloned().unwrap_or_default();
            for &(arg, phi) in &pairs {
                let size = self.width[phi].min(self.width[arg]);
                if values.iter().any(|&(v, known)| v == self.same[arg] && known >= size) {
                    new.push((phi, self.code.vregs[phi].size));
                }
            }
            new.sort_unstable();
            new.dedup();
            if !new.is_empty() {
                next.holds.insert(*k, new);
            }
        }
        next
    }
}

/// What each value is a copy of, and its width. Sources of copies come first in reverse postorder.
fn copies(code: &MFunction) -> (IndexVec<VReg, VReg>, IndexVec<VReg, u8>) {
    let mut same: IndexVec<VReg, VReg> = code.vregs.indices().collect();
    let mut width: IndexVec<VReg, u8> = code.vregs.iter().map(|info| info.size).collect();
    for block in code.blocks.iter() {
        if block.preds.len() == 1 {
            for phi in &block.phis {
                let arg = phi.args[0].1;
                same[phi.to] = same[arg];
                width[phi.to] = width[phi.to].min(width[arg]);
            }
        }
        for inst in block.insts.iter().filter(|inst| inst.op == op::COPY) {
            let operands = code.operands(inst);
            let used = operands.iter().find(|o| o.role == Role::Use);
            let defined = operands.iter().find(|o| o.role != Role::Use);
            if let (Some(u), Some(d)) = (used, defined) {
                same[d.reg] = same[u.reg];
                width[d.reg] = width[d.reg].min(width[u.reg]);
            }
        }
    }
    (same, width)
}
