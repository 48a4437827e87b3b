//! Colours: the register each value should have, as far as one can be given in advance.
//!
//! The live ranges that the spilling plan leaves in registers are cut into segments (one a block
//! and stay in a register); segments that meet at a block boundary are a node. Beginning with the
//! hottest, nodes that want to share a register (a phi and its arguments, tied operands, copies)
//! are joined into a group while their ranges are apart, and the group gets the free register that
//! suits its fixed operands best. A group without a register falls into its nodes, a node into its
//! segments. What still gets none is left to the assignment, which moves it about.
//!
//! Occupied registers are kept as one 64-bit set for each of two points an instruction (where it
//! reads and where it writes), so checking and marking a range are plain loops over it; all ranges
//! together are at most registers times instructions long.

use super::liveness::{DEAD, Liveness};
use super::spill::{Change, Plan, edge_frequency};
use super::{Demand, Pool, ends_in_tie, fixed};
use crate::index::{Index, IndexVec, index_types};
use crate::ir::BlockId;
use crate::target::machine::{
    Bank, Constraint, MFunction, MInst, Operand, PReg, PRegSet, Role, VReg, op,
};
use smallvec::SmallVec;

index_types! {
    /// A stay of a value in registers within one block.
    Segment = "s";
}

/// The register that each stay of a value in registers should use.
pub struct Colours {
    /// Parallel to the entries of the plan.
    pub entry: Vec<Option<PReg>>,
    /// Parallel to the events of the plan: of loads.
    pub load: Vec<Option<PReg>>,
    /// Parallel to the operands: of definitions.
    pub define: Vec<Option<PReg>>,
    /// Colours in use at each point.
    pub busy: Vec<PRegSet>,
}

impl Colours {
    pub fn new(code: &MFunction, pool: &Pool, live: &Liveness, plan: &Plan) -> Colours {
        let mut builder = Builder::new(code, live, plan);
        for b in code.blocks.indices() {
            builder.block(b);
        }
        for b in code.blocks.indices() {
            for &p in &code.blocks[b].preds {
                builder.edge(p, b);
            }
        }
        let mut colours = Colours {
            entry: vec![None; plan.entries()],
            load: vec![None; plan.events().len()],
            define: vec![None; code.operands.len()],
            busy: Vec::new(),
        };
        let (rows, busy) = super::colour::run(pool, builder.webs, 2 * live.total() as usize);
        for row in rows.iter() {
            match row.origin {
                Origin::Entry(n) => colours.entry[n as usize] = row.colour,
                Origin::Load(n) => colours.load[n as usize] = row.colour,
                Origin::Define(n) => colours.define[n as usize] = row.colour,
            }
        }
        colours.busy = busy;
        colours
    }
}

/// How a segment begins, with the number of the row it begins in.
#[derive(Copy, Clone, Debug)]
pub enum Origin {
    Entry(u32),
    Load(u32),
    Define(u32),
}

/// A stay in registers.
#[derive(Clone, Debug)]
pub struct Row {
    pub origin: Origin,
    pub start: u32,
    pub end: u32,
    /// Registers it cannot have all the way.
    pub forbidden: PRegSet,
    /// How often its registers are read or written.
    pub weight: f32,
    pub bank: Bank,
    pub colour: Option<PReg>,
}

/// Two segments that should have the same register, and what it is worth.
pub struct Affinity {
    pub a: Segment,
    pub b: Segment,
    pub weight: f32,
}

/// A segment that should have a given register.
pub struct Hint {
    pub segment: Segment,
    pub to: PReg,
    pub weight: f32,
}

/// All segments and what connects them.
#[derive(Default)]
pub struct Webs {
    pub rows: IndexVec<Segment, Row>,
    /// Pairs that are one value at both ends of an edge.
    pub same: Vec<(Segment, Segment, f32)>,
    pub affinities: Vec<Affinity>,
    pub hints: Vec<Hint>,
}

struct Builder<'a> {
    code: &'a MFunction,
    live: &'a Liveness,
    plan: &'a Plan,
    webs: Webs,
    /// The segment of each value in a register at the moment.
    current: IndexVec<VReg, Option<Segment>>,
    inside: Vec<VReg>,
    place: Vec<u32>,
    /// Segments at the ends of blocks.
    exit_first: Vec<u32>,
    exit: Vec<(VReg, Segment)>,
    entry: Vec<Segment>,
}

/// The point where an instruction reads.
fn early(n: u32) -> u32 {
    2 * n
}

/// The point where an instruction writes.
fn late(n: u32) -> u32 {
    2 * n + 1
}

impl<'a> Builder<'a> {
    fn new(code: &'a MFunction, live: &'a Liveness, plan: &'a Plan) -> Self {
        Builder {
            code,
            live,
            plan,
            webs: Webs::default(),
            current: IndexVec::filled(None, code.vregs.len()),
            inside: Vec::new(),
            place: vec![0; code.vregs.len()],
            exit_first: vec![0],
            exit: Vec::new(),
            entry: Vec::with_capacity(plan.entries()),
        }
    }

    fn begin(&mut self, v: VReg, origin: Origin, start: u32, keep: bool) -> Segment {
        let segment = self.webs.rows.push(Row {
            origin,
            start,
            end: start + 1,
            forbidden: PRegSet::EMPTY,
            weight: 0.0,
            bank: self.code.vregs[v].bank,
            colour: None,
        });
        if keep {
            self.place[v.index()] = self.inside.len() as u32;
            self.inside.push(v);
            self.current[v] = Some(segment);
        }
        segment
    }

    fn finish(&mut self, v: VReg, end: u32) {
        let Some(segment) = self.current[v].take() else { return };
        let row = &mut self.webs.rows[segment];
        row.end = end.max(row.start + 1);
        let at = self.place[v.index()] as usize;
        self.inside.swap_remove(at);
        if let Some(&moved) = self.inside.get(at) {
            self.place[moved.index()] = at as u32;
        }
    }

    fn block(&mut self, b: BlockId) {
        let (code, live, plan) = (self.code, self.live, self.plan);
        let first = live.first(b);
        let block = &code.blocks[b];
        for (n, &v) in plan.entry(b).iter().enumerate() {
            let origin = Origin::Entry((plan.entry_first(b) + n) as u32);
            let segment = self.begin(v, origin, early(first), true);
            if live.definition[v].block == b {
                self.webs.rows[segment].weight += block.frequency;
            }
            self.entry.push(segment);
        }
        let mut events = plan.events_of(b);
        for (i, inst) in block.insts.iter().enumerate() {
            let from = events.start;
            while events.start < events.end && plan.events()[events.start].inst == i as u32 {
                events.start += 1;
            }
            if inst.count > 0 || inst.clobbers > 0 {
                self.instruction(first + i as u32, inst, from..events.start, block.frequency);
            }
        }
        let end = early(first + block.insts.len() as u32);
        while let Some(&v) = self.inside.last() {
            let segment = self.current[v].expect("inside");
            self.exit.push((v, segment));
            self.finish(v, end);
        }
        self.exit_first.push(self.exit.len() as u32);
    }

    fn instruction(
        &mut self,
        n: u32,
        inst: &MInst,
        events: std::ops::Range<usize>,
        frequency: f32,
    ) {
        let (code, live, plan) = (self.code, self.live, self.plan);
        let operands = code.operands(inst);
        let first = inst.first as usize;
        for e in events.clone() {
            let event = &plan.events()[e];
            if event.change == Change::Load {
                self.begin(event.value, Origin::Load(e as u32), early(n), true);
            }
        }
        let demand = Demand::new(operands, code.clobbers(inst));
        self.uses(operands, frequency);
        // What ends here. Its segments stay known for ties and copies.
        let mut ended: SmallVec<[(VReg, Segment); 8]> = SmallVec::new();
        let end_of = |v: VReg| if reads(operands, v) { late(n) } else { early(n) };
        for (k, operand) in operands.iter().enumerate() {
            let v = operand.reg;
            if operand.role == Role::Use
                && live.next[first + k] == DEAD
                && let Some(segment) = self.current[v]
            {
                ended.push((v, segment));
                self.limit_ending(operands, v, segment, &demand);
                self.finish(v, end_of(v));
            }
        }
        for e in events.clone() {
            let v = plan.events()[e].value;
            if plan.events()[e].change == Change::Evict
                && let Some(segment) = self.current[v]
            {
                ended.push((v, segment));
                self.limit_ending(operands, v, segment, &demand);
                self.finish(v, end_of(v));
            }
        }
        self.limit_through(operands, &demand);
        for (k, operand) in operands.iter().enumerate() {
            let remade = code.vregs[operand.reg].rematerialise;
            if operand.role != Role::Use && !remade {
                let evicted = events.clone().any(|e| plan.events()[e].value == operand.reg);
                let keep = live.next[first + k] != DEAD && !evicted;
                self.define(n, inst, k, keep, &demand, &ended, frequency);
            }
        }
    }

    /// Weights and hints of uses.
    fn uses(&mut self, operands: &[Operand], frequency: f32) {
        for operand in operands.iter().filter(|o| o.role == Role::Use) {
            let Some(segment) = self.current[operand.reg] else { continue };
            self.webs.rows[segment].weight += frequency;
            if let Constraint::Fixed(to) = operand.constraint {
                self.webs.hints.push(Hint { segment, to, weight: frequency });
            }
        }
    }

    /// What a value that ends at an instruction may not be in.
    fn limit_ending(&mut self, operands: &[Operand], v: VReg, segment: Segment, demand: &Demand) {
        if !reads(operands, v) {
            return;
        }
        let tied = operands.iter().any(|o| match o.constraint {
            Constraint::Reuse(u) => operands[u as usize].reg == v && fixed(operands, o).is_none(),
            _ => false,
        });
        let taken = if tied { demand.all() } else { demand.fixed_uses };
        let taken = taken.without(own(operands, v));
        let row = &mut self.webs.rows[segment];
        row.forbidden = row.forbidden.union(taken);
    }

    /// What values that live through an instruction may not be in.
    fn limit_through(&mut self, operands: &[Operand], demand: &Demand) {
        let taken = demand.all();
        if taken.is_empty() {
            return;
        }
        for &v in &self.inside {
            let segment = self.current[v].expect("inside");
            let mine = if demand.fixed_uses.is_empty() {
                PRegSet::EMPTY
            } else {
                own(operands, v).without(demand.late())
            };
            let row = &mut self.webs.rows[segment];
            row.forbidden = row.forbidden.union(taken.without(mine));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn define(
        &mut self,
        n: u32,
        inst: &MInst,
        k: usize,
        keep: bool,
        demand: &Demand,
        ended: &[(VReg, Segment)],
        frequency: f32,
    ) {
        let operands = self.code.operands(inst);
        let operand = &operands[k];
        let segment_of = |this: &Self, v: VReg| {
            this.current[v].or_else(|| ended.iter().find(|(e, _)| *e == v).map(|(_, s)| *s))
        };
        let place = fixed(operands, operand);
        // The use that this definition should share a register with.
        let source = match operand.constraint {
            Constraint::Reuse(u) => Some(operands[u as usize].reg),
            _ if inst.op == op::COPY => {
                operands.iter().find(|o| o.role == Role::Use).map(|o| o.reg)
            }
            _ => None,
        };
        let takes_over = match operand.constraint {
            Constraint::Reuse(_) => {
                source.is_some_and(|v| self.current[v].is_none()) && ends_in_tie(operands, k, true)
            }
            _ => true,
        };
        let start = if operand.role == Role::EarlyDef || !takes_over && place.is_none() {
            early(n)
        } else {
            late(n)
        };
        let origin = Origin::Define(inst.first + k as u32);
        let source = source.and_then(|v| segment_of(self, v));
        let segment = self.begin(operand.reg, origin, start, keep);
        let row = &mut self.webs.rows[segment];
        row.end = late(n) + 1;
        row.weight += frequency;
        if let Some(to) = place {
            self.webs.hints.push(Hint { segment, to, weight: frequency });
        } else if operand.role == Role::EarlyDef
            || matches!(operand.constraint, Constraint::Reuse(_))
        {
            row.forbidden = demand.all();
        } else {
            row.forbidden = demand.late();
        }
        if let Some(source) = source {
            self.webs.affinities.push(Affinity { a: source, b: segment, weight: frequency });
        }
    }

    /// Connects the segments at both ends of an edge.
    fn edge(&mut self, p: BlockId, b: BlockId) {
        let weight = edge_frequency(self.code, p, b);
        let (from, to) = (self.exit_first[p.index()], self.exit_first[p.index() + 1]);
        for &(v, segment) in &self.exit[from as usize..to as usize] {
            self.current[v] = Some(segment);
        }
        let block = &self.code.blocks[b];
        let first = self.plan.entry_first(b);
        for (n, &v) in self.plan.entry(b).iter().enumerate() {
            let segment = self.entry[first + n];
            if self.live.definition[v] != (super::liveness::Definition { block: b, inst: None })
                && let Some(other) = self.current[v]
            {
                self.webs.same.push((other, segment, weight));
            }
        }
        for out in self.live.outgoing(p).iter().filter(|out| out.block == b) {
            let phi = block.phis[out.phi as usize].to;
            let at = self.plan.entry(b).iter().position(|&v| v == phi);
            if let (Some(at), Some(a)) = (at, self.current[out.arg]) {
                self.webs.affinities.push(Affinity { a, b: self.entry[first + at], weight });
            }
        }
        for i in from..to {
            self.current[self.exit[i as usize].0] = None;
        }
    }
}

/// Whether an instruction reads a value where it is, not only in a fixed register.
fn reads(operands: &[Operand], v: VReg) -> bool {
    operands
        .iter()
        .any(|o| o.reg == v && o.role == Role::Use && !matches!(o.constraint, Constraint::Fixed(_)))
}

/// The fixed registers an instruction wants a value in.
fn own(operands: &[Operand], v: VReg) -> PRegSet {
    let mut set = PRegSet::EMPTY;
    for operand in operands.iter().filter(|o| o.reg == v && o.role == Role::Use) {
        if let Constraint::Fixed(r) = operand.constraint {
            set.insert(r);
        }
    }
    set
}
