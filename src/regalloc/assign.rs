//! Assignment: a walk in reverse postorder that knows which register holds what, follows the
//! spilling plan, and gives every operand its place.
//!
//! Values sit in their colours where they have one. Before an instruction with fixed registers or
//! clobbers, one set of parallel moves brings its uses in place and takes what lives through it out
//! of the way; the plan has left enough registers for that. Copies are moves as well and do not
//! appear as instructions. Registers at block boundaries are recorded for [`edges`](super::edges).

use super::liveness::{DEAD, Liveness};
use super::moves::{Move, Resolver, Source};
use super::slots::{Slots, Store};
use super::spill::{Change, Plan};
use super::webs::Colours;
use super::{Demand, Pool, ends_in_tie, fixed};
use crate::index::{Index, IndexVec};
use crate::ir::BlockId;
use crate::target::machine::{
    Bank, Constraint, Location, MFunction, MInst, Operand, PReg, PRegSet, Role, SpillId, Step,
    VReg, op,
};
use smallvec::SmallVec;
use std::ops::Range;

/// What the walk leaves to the edges.
pub struct Assigned {
    pub steps: IndexVec<BlockId, Vec<Step>>,
    pub locations: Vec<Option<Location>>,
    pub spills: IndexVec<SpillId, ()>,
    /// Parallel to the plan's entries and exits.
    pub entry: Vec<PReg>,
    pub exit: Vec<PReg>,
    pub used: PRegSet,
    pub resolver: Resolver,
}

pub fn run(
    code: &MFunction,
    pool: &Pool,
    live: &Liveness,
    plan: &Plan,
    slots: &Slots,
    colours: &Colours,
) -> Assigned {
    let mut walker = Walker {
        code,
        pool,
        live,
        plan,
        slots,
        colours,
        out: Assigned {
            steps: IndexVec::with_capacity(code.blocks.len()),
            locations: vec![None; code.operands.len()],
            spills: slots.table.clone(),
            entry: Vec::with_capacity(plan.entries()),
            exit: Vec::with_capacity(plan.entries()),
            used: PRegSet::EMPTY,
            resolver: Resolver::new(pool.victims()),
        },
        steps: Vec::new(),
        holder: [None; 64],
        occupied: PRegSet::EMPTY,
        reg_of: IndexVec::filled(None, code.vregs.len()),
        colour: IndexVec::filled(None, code.vregs.len()),
        gone: vec![0; code.vregs.len()],
        round: 0,
        moves: Vec::new(),
    };
    for b in code.blocks.indices() {
        walker.block(b);
    }
    walker.out
}

struct Walker<'a> {
    code: &'a MFunction,
    pool: &'a Pool,
    live: &'a Liveness,
    plan: &'a Plan,
    slots: &'a Slots,
    colours: &'a Colours,
    out: Assigned,
    /// Of the block at hand.
    steps: Vec<Step>,
    holder: [Option<VReg>; 64],
    occupied: PRegSet,
    reg_of: IndexVec<VReg, Option<PReg>>,
    colour: IndexVec<VReg, Option<PReg>>,
    /// The last instruction (`round`) after which a value is no longer in its register.
    gone: Vec<u32>,
    round: u32,
    moves: Vec<Move>,
}

/// An instruction while its operands get their places.
struct Scene<'a> {
    operands: &'a [Operand],
    /// The number of its first operand in the function.
    first: usize,
    /// The number of the instruction in the function.
    number: u32,
    demand: Demand,
    /// Registers in use while it reads.
    taken: PRegSet,
    /// Colours of definitions: better left to them.
    reserved: PRegSet,
    /// Registers of what lives through it, and of early or tied definitions.
    through: PRegSet,
    /// Where values that it reads or that live through it are meanwhile, if not where they were.
    placed: SmallVec<[(VReg, PReg); 6]>,
    /// Registers of definitions found so far, by operand.
    defined: SmallVec<[(usize, PReg); 6]>,
}

impl Scene<'_> {
    fn place_of(&self, v: VReg) -> Option<PReg> {
        self.placed.iter().find(|(p, _)| *p == v).map(|(_, r)| *r)
    }

    fn reads(&self, v: VReg) -> bool {
        self.operands.iter().any(|o| {
            o.reg == v && o.role == Role::Use && !matches!(o.constraint, Constraint::Fixed(_))
        })
    }

    /// The fixed registers it wants a value in.
    fn own(&self, v: VReg) -> PRegSet {
        let mut set = PRegSet::EMPTY;
        for operand in self.operands.iter().filter(|o| o.reg == v && o.role == Role::Use) {
            if let Constraint::Fixed(r) = operand.constraint {
                set.insert(r);
            }
        }
        set
    }

    /// Whether a definition with no fixed register takes over the register of this value.
    fn tied(&self, v: VReg) -> bool {
        self.operands.iter().any(|o| match o.constraint {
            Constraint::Reuse(u) => {
                self.operands[u as usize].reg == v && fixed(self.operands, o).is_none()
            }
            _ => false,
        })
    }
}

impl<'a> Walker<'a> {
    fn block(&mut self, b: BlockId) {
        let (code, plan) = (self.code, self.plan);
        self.enter(b);
        let mut events = plan.events_of(b);
        let first = self.live.first(b);
        for (i, inst) in code.blocks[b].insts.iter().enumerate() {
            let from = events.start;
            while events.start < events.end && plan.events()[events.start].inst == i as u32 {
                events.start += 1;
            }
            if inst.count == 0 && inst.clobbers == 0 {
                if inst.op != op::NOP {
                    self.steps.push(Step::Inst(i as u32));
                }
                continue;
            }
            let operands = code.operands(inst);
            let remade = |o: &Operand| o.role != Role::Use && code.vregs[o.reg].rematerialise;
            if operands.iter().any(remade) {
                // Made where it is needed.
                continue;
            }
            self.round += 1;
            let number = first + i as u32;
            if inst.op == op::COPY {
                self.leave(operands, inst.first as usize, from..events.start);
                self.copy(inst, number, from..events.start);
            } else {
                self.instruction(i as u32, number, inst, from..events.start);
            }
        }
        for &v in plan.exit(b) {
            let r = self.reg_of[v].expect("the plan keeps it in a register");
            self.out.exit.push(r);
        }
        self.clear();
        // As long as it is: the next block uses the room again.
        self.out.steps.push(self.steps.as_slice().into());
        self.steps.clear();
    }

    fn hold(&mut self, v: VReg, r: PReg) {
        debug_assert!(self.holder[r.index()].is_none(), "{r:?} holds two values");
        self.holder[r.index()] = Some(v);
        self.occupied.insert(r);
        self.reg_of[v] = Some(r);
        self.out.used.insert(r);
    }

    fn release(&mut self, v: VReg) {
        if let Some(r) = self.reg_of[v].take() {
            self.holder[r.index()] = None;
            self.occupied.remove(r);
        }
    }

    fn clear(&mut self) {
        for r in self.occupied.iter() {
            if let Some(v) = self.holder[r.index()].take() {
                self.reg_of[v] = None;
            }
        }
        self.occupied = PRegSet::EMPTY;
    }

    fn is_gone(&self, v: VReg) -> bool {
        self.gone[v.index()] == self.round
    }

    fn bank(&self, v: VReg) -> Bank {
        self.code.vregs[v].bank
    }

    /// The registers of values at the start of a block: their colours, else where the most
    /// frequent predecessor has them, else any.
    fn enter(&mut self, b: BlockId) {
        let plan = self.plan;
        let entry = plan.entry(b);
        let first = plan.entry_first(b);
        let mut rest: SmallVec<[VReg; 8]> = SmallVec::new();
        for (n, &v) in entry.iter().enumerate() {
            let colour = self.colours.entry[first + n];
            self.colour[v] = colour;
            match colour {
                Some(r) if !self.occupied.contains(r) => self.hold(v, r),
                _ => rest.push(v),
            }
        }
        if !rest.is_empty() {
            self.follow(b, &rest);
        }
        for &v in entry {
            let r = self.reg_of[v].expect("just placed");
            self.out.entry.push(r);
            if self.live.definition[v].block == b && self.slots.store[v] == Store::Definition {
                self.store(v, r);
            }
        }
    }

    fn follow(&mut self, b: BlockId, rest: &[VReg]) {
        let (code, plan) = (self.code, self.plan);
        let frequency = |p: &BlockId| code.blocks[*p].frequency;
        let seen = code.blocks[b].preds.iter().copied().filter(|p| *p < b);
        let best = seen.max_by(|p, q| frequency(p).total_cmp(&frequency(q)));
        let mut at: Vec<(VReg, PReg)> = Vec::new();
        if let Some(p) = best {
            let from = plan.exit_first(p);
            for (n, &v) in plan.exit(p).iter().enumerate() {
                at.push((v, self.out.exit[from + n]));
            }
            for out in self.live.outgoing(p).iter().filter(|out| out.block == b) {
                let phi = code.blocks[b].phis[out.phi as usize].to;
                if let Some(&(_, r)) = at.iter().find(|(v, _)| *v == out.arg)
                    && rest.contains(&phi)
                {
                    at.push((phi, r));
                }
            }
        }
        let number = self.live.first(b);
        for &v in rest {
            let wish = at.iter().find(|(w, _)| *w == v).map(|(_, r)| *r);
            let free = self.pool.allowed.without(self.occupied);
            let r = match wish {
                Some(r) if free.contains(r) => r,
                _ => self.choose(free, self.bank(v), number).expect("fits the registers"),
            };
            self.hold(v, r);
        }
    }

    /// The best of some free registers for a value that cannot have its colour: one that no
    /// colour needs soon.
    fn choose(&self, free: PRegSet, bank: Bank, number: u32) -> Option<PReg> {
        let free = free.in_bank(bank);
        let from = 2 * number as usize;
        let busy = &self.colours.busy[from..(from + 24).min(self.colours.busy.len())];
        let busy = busy.iter().fold(PRegSet::EMPTY, |all, p| all.union(*p));
        let new = self.pool.callee_saved.without(self.out.used);
        let rank = |r: &PReg| (busy.contains(*r), new.contains(*r));
        self.pool.order.iter().copied().filter(|r| free.contains(*r)).min_by_key(rank)
    }

    /// A register for `v` outside `avoid`: its colour if possible, one from outside the pool if
    /// there is no other.
    fn pick(&self, v: VReg, avoid: PRegSet, number: u32) -> Option<PReg> {
        let free = self.pool.allowed.without(avoid);
        match self.colour[v] {
            Some(r) if free.contains(r) => Some(r),
            _ => self.choose(free, self.bank(v), number),
        }
    }

    fn borrow(&self, v: VReg, avoid: PRegSet, number: u32) -> PReg {
        self.pick(v, avoid, number)
            .or_else(|| self.choose(self.pool.every.without(avoid), self.bank(v), number))
            .expect("an instruction asks for more registers than there are")
    }

    fn source(&self, v: VReg) -> Source {
        match self.reg_of[v] {
            Some(r) => Source::At(Location::Reg(r)),
            None => remote(self.code, self.live, self.slots, v),
        }
    }

    fn store(&mut self, v: VReg, r: PReg) {
        let slot = self.slots.slot[v].expect("is in memory somewhere");
        let size = self.code.vregs[v].size;
        self.steps.push(Step::Move { from: Location::Reg(r), to: Location::Spill(slot), size });
    }

    /// Stores a new value if it has to be. True if it stays in its register as well.
    fn keep_definition(&mut self, v: VReg, r: PReg) -> bool {
        let evicted = self.is_gone(v);
        match self.slots.store[v] {
            Store::Definition => self.store(v, r),
            Store::Eviction if evicted => self.store(v, r),
            Store::Eviction | Store::Never => {}
        }
        !evicted
    }

    /// Marks what is no longer in its register after an instruction, and stores what is evicted.
    fn leave(&mut self, operands: &[Operand], first: usize, events: Range<usize>) {
        for e in events {
            let event = self.plan.events()[e];
            if event.change != Change::Evict {
                continue;
            }
            self.gone[event.value.index()] = self.round;
            if let Some(r) = self.reg_of[event.value]
                && self.slots.store[event.value] == Store::Eviction
            {
                self.store(event.value, r);
            }
        }
        for (k, operand) in operands.iter().enumerate() {
            if operand.role == Role::Use && self.live.next[first + k] == DEAD {
                self.gone[operand.reg.index()] = self.round;
            }
        }
    }

    fn add_move(&mut self, v: VReg, from: Source, to: Location) {
        let info = self.code.vregs[v];
        self.moves.push(Move { from, to, bank: info.bank, size: info.size });
    }

    /// Emits the gathered moves.
    fn flush(&mut self) {
        if self.moves.is_empty() {
            return;
        }
        let mut free = self.pool.scratch(self.out.used).without(self.occupied);
        for m in &self.moves {
            if let Location::Reg(r) = m.to {
                free.remove(r);
                self.out.used.insert(r);
            }
        }
        self.out.resolver.run(&self.moves, free, &mut self.out.spills, &mut self.steps);
        self.moves.clear();
    }

    /// A copy: a move, or only a new name for the register.
    fn copy(&mut self, inst: &MInst, number: u32, events: Range<usize>) {
        let operands = self.code.operands(inst);
        let first = inst.first as usize;
        let (mut def, mut used) = (0, 0);
        for (k, operand) in operands.iter().enumerate() {
            match operand.role {
                Role::Use => used = k,
                Role::Def | Role::EarlyDef => def = k,
            }
        }
        let (d, s) = (operands[def].reg, operands[used].reg);
        self.colour[d] = self.colours.define[first + def];
        let from = self.source(s);
        let at = self.reg_of[s];
        if self.is_gone(s) {
            self.release(s);
        }
        for e in events {
            self.release(self.plan.events()[e].value);
        }
        if self.live.next[first + def] == DEAD {
            return;
        }
        let free = |r: &PReg| !self.occupied.contains(*r);
        let inherited = at.filter(free);
        let to = match self.colour[d].filter(free).or(inherited) {
            Some(r) => r,
            None => self.borrow(d, self.occupied, number),
        };
        self.add_move(d, from, Location::Reg(to));
        self.flush();
        self.out.used.insert(to);
        if self.keep_definition(d, to) {
            self.hold(d, to);
        }
    }

    fn instruction(&mut self, i: u32, number: u32, inst: &MInst, events: Range<usize>) {
        let operands = self.code.operands(inst);
        let first = inst.first as usize;
        for (k, operand) in operands.iter().enumerate() {
            if operand.role != Role::Use {
                self.colour[operand.reg] = self.colours.define[first + k];
            }
        }
        self.leave(operands, first, events.clone());
        let mut scene = Scene {
            operands,
            first,
            number,
            demand: Demand::new(operands, self.code.clobbers(inst)),
            taken: PRegSet::EMPTY,
            reserved: PRegSet::EMPTY,
            through: PRegSet::EMPTY,
            placed: SmallVec::new(),
            defined: SmallVec::new(),
        };
        for operand in operands.iter().filter(|o| o.role != Role::Use) {
            if let (Some(r), None) = (self.colour[operand.reg], fixed(operands, operand)) {
                scene.reserved.insert(r);
            }
        }
        self.arrange(&mut scene, events);
        self.bring_in(&scene);
        self.flush();
        self.locate_uses(&scene);
        self.steps.push(Step::Inst(i));
        self.settle(&scene);
        self.define(&mut scene);
    }

    /// Finds places for everything the instruction reads or lets live.
    fn arrange(&mut self, scene: &mut Scene<'_>, events: Range<usize>) {
        scene.taken = scene.demand.fixed_uses;
        let (mut moving, mut ending): (SmallVec<[VReg; 8]>, SmallVec<[VReg; 8]>) =
            Default::default();
        for r in self.occupied.iter() {
            let v = self.holder[r.index()].expect("occupied");
            let fixed_elsewhere = scene.demand.fixed_uses.contains(r) && !scene.own(v).contains(r);
            let written = scene.demand.late().contains(r);
            if !self.is_gone(v) {
                if fixed_elsewhere || written || self.intrudes(v, r, scene) {
                    moving.push(v);
                } else {
                    scene.taken.insert(r);
                    scene.through.insert(r);
                }
            } else if scene.reads(v) {
                if !(fixed_elsewhere || written && scene.tied(v)) {
                    scene.taken.insert(r);
                } else if scene.tied(v) {
                    moving.push(v);
                } else if scene.own(v).is_empty() {
                    ending.push(v);
                }
            }
        }
        for e in events {
            let event = self.plan.events()[e];
            if event.change == Change::Load {
                self.colour[event.value] = self.colours.load[e];
                if self.is_gone(event.value) && !scene.tied(event.value) {
                    ending.push(event.value);
                } else {
                    moving.push(event.value);
                }
            }
        }
        for v in moving {
            let r = self.pick_through(v, scene);
            scene.placed.push((v, r));
            scene.taken.insert(r);
            if !self.is_gone(v) {
                scene.through.insert(r);
            }
        }
        for (k, operand) in scene.operands.iter().enumerate() {
            if fixed(scene.operands, operand).is_some() {
                continue;
            }
            let needs = match (operand.role, operand.constraint) {
                (Role::EarlyDef, _) => true,
                (Role::Def, Constraint::Reuse(u)) => {
                    let dies = self.is_gone(scene.operands[u as usize].reg);
                    !ends_in_tie(scene.operands, k, dies)
                }
                _ => false,
            };
            if needs {
                let r = self.pick_through(operand.reg, scene);
                scene.defined.push((k, r));
                scene.taken.insert(r);
                scene.through.insert(r);
            }
        }
        for v in ending {
            let r = self.borrow(v, scene.taken, scene.number);
            scene.placed.push((v, r));
            scene.taken.insert(r);
        }
    }

    /// Whether a value that is not in its colour is in that of a definition.
    fn intrudes(&self, v: VReg, r: PReg, scene: &Scene<'_>) -> bool {
        self.colour[v] != Some(r) && scene.reserved.contains(r)
    }

    /// A register that the instruction neither reads for something else nor writes. If all are
    /// taken, one that a value which only it reads can leave for another.
    fn pick_through(&mut self, v: VReg, scene: &mut Scene<'_>) -> PReg {
        let avoid = scene.taken.union(scene.demand.all());
        let colour = self.colour[v].filter(|r| !avoid.contains(*r));
        let polite = colour.or_else(|| self.pick(v, avoid.union(scene.reserved), scene.number));
        if let Some(r) = polite.or_else(|| self.pick(v, avoid, scene.number)) {
            return r;
        }
        let bank = self.bank(v);
        let candidates = self.pool.allowed.in_bank(bank).without(scene.demand.all());
        for r in candidates.without(scene.through).iter() {
            let reader = self.holder[r.index()].filter(|&u| {
                self.is_gone(u) && scene.reads(u) && !scene.tied(u) && scene.place_of(u).is_none()
            });
            let Some(u) = reader else { continue };
            if let Some(other) = self.pick(u, scene.taken, scene.number) {
                scene.placed.push((u, other));
                scene.taken.insert(other);
                return r;
            }
        }
        self.borrow(v, avoid, scene.number)
    }

    /// Gathers the moves that make the places true.
    fn bring_in(&mut self, scene: &Scene<'_>) {
        for &(v, r) in &scene.placed {
            self.add_move(v, self.source(v), Location::Reg(r));
        }
        for &(k, r) in &scene.defined {
            if let Constraint::Reuse(u) = scene.operands[k].constraint {
                let v = scene.operands[u as usize].reg;
                self.add_move(v, self.source(v), Location::Reg(r));
            }
        }
        for (k, operand) in scene.operands.iter().enumerate() {
            if let (Role::Use, Constraint::Fixed(r)) = (operand.role, operand.constraint) {
                let again = scene.operands[..k].contains(operand);
                if !again && self.reg_of[operand.reg] != Some(r) {
                    self.add_move(operand.reg, self.source(operand.reg), Location::Reg(r));
                }
            }
        }
    }

    fn locate_uses(&mut self, scene: &Scene<'_>) {
        for (k, operand) in scene.operands.iter().enumerate() {
            if operand.role != Role::Use {
                continue;
            }
            let v = operand.reg;
            let copied = scene.defined.iter().find(
                |(d, _)| matches!(scene.operands[*d].constraint, Constraint::Reuse(u) if u as usize == k),
            );
            let place = match (operand.constraint, copied) {
                (Constraint::Fixed(r), _) => Some(r),
                (_, Some((_, r))) => Some(*r),
                _ => scene.place_of(v).or_else(|| {
                    // Its own register may have become something else's.
                    let own = scene.own(v).iter().next();
                    let here = self.reg_of[v];
                    let lost = here.is_some_and(|r| {
                        scene.demand.fixed_uses.contains(r) && !scene.own(v).contains(r)
                    });
                    if lost { own } else { here }
                }),
            };
            self.out.locations[scene.first + k] = Some(match place {
                Some(r) => Location::Reg(r),
                None => Location::Spill(self.slots.slot[v].expect("is in memory")),
            });
        }
    }

    /// Brings the record of registers up to date after the instruction has read.
    fn settle(&mut self, scene: &Scene<'_>) {
        for r in self.occupied.iter() {
            let v = self.holder[r.index()].expect("occupied");
            if self.is_gone(v) || scene.place_of(v).is_some() {
                self.release(v);
            }
        }
        for &(v, r) in &scene.placed {
            if !self.is_gone(v) {
                self.hold(v, r);
            }
        }
    }

    /// Gives definitions their registers, and takes those in fixed registers to their colours.
    fn define(&mut self, scene: &mut Scene<'_>) {
        let late = scene.demand.late();
        let mut in_use = scene.through.union(late);
        for (k, operand) in scene.operands.iter().enumerate() {
            if operand.role == Role::Use || scene.defined.iter().any(|(d, _)| *d == k) {
                continue;
            }
            let r = match operand.constraint {
                Constraint::Fixed(r) => Some(r),
                Constraint::Reuse(u) => match self.out.locations[scene.first + u as usize] {
                    Some(Location::Reg(r)) => Some(r),
                    _ => unreachable!("a tied use is in a register"),
                },
                Constraint::Reg | Constraint::Any => None,
            };
            if let Some(r) = r {
                in_use.insert(r);
                scene.defined.push((k, r));
            }
        }
        for (k, operand) in scene.operands.iter().enumerate() {
            if operand.role == Role::Use || scene.defined.iter().any(|(d, _)| *d == k) {
                continue;
            }
            let r = self.borrow(operand.reg, in_use, scene.number);
            in_use.insert(r);
            scene.defined.push((k, r));
        }
        for &(k, r) in &scene.defined {
            let v = scene.operands[k].reg;
            self.out.locations[scene.first + k] = Some(Location::Reg(r));
            self.out.used.insert(r);
            if self.live.next[scene.first + k] != DEAD && self.keep_definition(v, r) {
                self.hold(v, r);
            }
        }
        if !scene.demand.fixed_defs.is_empty() {
            self.go_home(scene);
        }
    }

    /// Moves fixed definitions to their colours, those whose colour is or becomes free.
    fn go_home(&mut self, scene: &Scene<'_>) {
        let mut movers: SmallVec<[(VReg, PReg, PReg); 4]> = SmallVec::new();
        for operand in scene.operands.iter().filter(|o| o.role != Role::Use) {
            if let (Some(from), Some(to)) = (self.reg_of[operand.reg], self.colour[operand.reg])
                && from != to
            {
                movers.push((operand.reg, from, to));
            }
        }
        loop {
            let leaving: PRegSet = movers.iter().fold(PRegSet::EMPTY, |mut all, m| {
                all.insert(m.1);
                all
            });
            let before = movers.len();
            movers.retain(|m| !self.occupied.contains(m.2) || leaving.contains(m.2));
            if movers.len() == before {
                break;
            }
        }
        for &(v, from, to) in &movers {
            self.add_move(v, Source::At(Location::Reg(from)), Location::Reg(to));
        }
        self.flush();
        for &(v, ..) in &movers {
            self.release(v);
        }
        for &(v, _, to) in &movers {
            self.hold(v, to);
        }
    }
}

/// Where a value that is in no register comes from.
pub fn remote(code: &MFunction, live: &Liveness, slots: &Slots, v: VReg) -> Source {
    if code.vregs[v].rematerialise {
        let home = live.definition[v];
        let inst = home.inst.expect("defined by an instruction");
        return Source::Rematerialise(home.block, inst);
    }
    Source::At(Location::Spill(slots.slot[v].expect("is in memory")))
}
