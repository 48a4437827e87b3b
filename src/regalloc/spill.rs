//! Spilling: which values are in registers at which places.
//!
//! One walk in reverse postorder keeps the set of values in registers. Where an instruction leaves
//! too little room, the value with the farthest next use leaves the set (Belady's rule; Braun and
//! Hack 2009, "Register spilling and live-range splitting for SSA-form programs"). Room at an
//! instruction with fixed registers or clobbers, calls above all, is what it leaves to values that
//! live through it. Into a loop go the values used in it, and others only if the loop can spare
//! the registers. Edges make up for differences between blocks.
//!
//! Rematerialisable values enter registers at their first use, not at their definition, and leave
//! without a store.

use super::liveness::{DEAD, EXIT, Liveness, bank, is_header};
use super::{Demand, Pool, ends_in_tie, fixed};
use crate::index::{BitSet, Index};
use crate::ir::BlockId;
use crate::target::machine::{Bank, Constraint, MFunction, MInst, Operand, Role, VReg, op};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A value enters or leaves registers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Loaded or rematerialised before the instruction.
    Load,
    /// No longer in a register: before the instruction, or right after it if it uses or defines
    /// the value.
    Evict,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Event {
    pub inst: u32,
    pub value: VReg,
    pub change: Change,
}

/// The decisions.
pub struct Plan {
    entry_first: Vec<u32>,
    entry: Vec<VReg>,
    exit_first: Vec<u32>,
    exit: Vec<VReg>,
    event_first: Vec<u32>,
    events: Vec<Event>,
    /// Values that something expects in memory.
    pub memory: BitSet<VReg>,
    /// How often an eviction of the value happens.
    pub evictions: Vec<f32>,
}

impl Plan {
    pub fn new(code: &MFunction, pool: &Pool, live: &Liveness) -> Plan {
        let mut spiller = Spiller::new(code, pool, live);
        spiller.walk();
        if spiller.find_wasted() {
            spiller.restart();
            spiller.walk();
        }
        spiller.edges();
        spiller.plan
    }

    /// The values in registers at the start of a block, its phis included.
    pub fn entry(&self, b: BlockId) -> &[VReg] {
        &self.entry[self.entry_first[b.index()] as usize..self.entry_first[b.index() + 1] as usize]
    }

    /// The place of the first of them among those of all blocks.
    pub fn entry_first(&self, b: BlockId) -> usize {
        self.entry_first[b.index()] as usize
    }

    /// How many values all blocks have in registers at their starts.
    pub fn entries(&self) -> usize {
        self.entry.len()
    }

    /// The values in registers at the end of a block.
    pub fn exit(&self, b: BlockId) -> &[VReg] {
        &self.exit[self.exit_first[b.index()] as usize..self.exit_first[b.index() + 1] as usize]
    }

    /// The place of the first of them among those of all blocks.
    pub fn exit_first(&self, b: BlockId) -> usize {
        self.exit_first[b.index()] as usize
    }

    /// Which events of [`Plan::events`] are of a block.
    pub fn events_of(&self, b: BlockId) -> std::ops::Range<usize> {
        self.event_first[b.index()] as usize..self.event_first[b.index() + 1] as usize
    }

    /// All events, by block and instruction.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

/// How often an edge is taken.
pub fn edge_frequency(code: &MFunction, from: BlockId, to: BlockId) -> f32 {
    if code.blocks[from].succs.len() == 1 {
        code.blocks[from].frequency
    } else {
        code.blocks[to].frequency
    }
}

const NONE: u32 = u32::MAX;

struct Spiller<'a> {
    code: &'a MFunction,
    pool: &'a Pool,
    live: &'a Liveness,
    plan: Plan,
    /// The values in registers, by bank, and the place of each there.
    inside: [Vec<VReg>; 2],
    place: Vec<u32>,
    /// Next use of what is inside, from the start of the block.
    next: Vec<u32>,
    size: [usize; 2],
    /// Marks of values: the last round they were seen in.
    seen: Vec<u32>,
    live_round: Vec<u32>,
    round: u32,
    /// Of the block being entered; kept for its memory.
    candidates: Vec<Candidate>,
    /// Headers and values that would have to be reloaded on each trip.
    wasted: FxHashSet<(BlockId, VReg)>,
}

/// A value that may be in a register at the start of a block.
struct Candidate {
    value: VReg,
    next: u32,
    /// How many edges bring it in a register, and how often they are taken.
    edges: u32,
    weight: f32,
}

/// How many registers of one bank an instruction leaves to values that live through it.
#[derive(Copy, Clone)]
struct Room {
    /// To all of them, as far as their registers go.
    through: usize,
    /// The same, as long as it reads its uses; to them count those it reads itself.
    early: usize,
}

impl<'a> Spiller<'a> {
    fn new(code: &'a MFunction, pool: &'a Pool, live: &'a Liveness) -> Spiller<'a> {
        let values = code.vregs.len();
        Spiller {
            code,
            pool,
            live,
            plan: Plan {
                entry_first: vec![0],
                entry: Vec::new(),
                exit_first: vec![0],
                exit: Vec::new(),
                event_first: vec![0],
                events: Vec::new(),
                memory: BitSet::new(values),
                evictions: vec![0.0; values],
            },
            inside: [Vec::new(), Vec::new()],
            place: vec![NONE; values],
            next: vec![DEAD; values],
            size: [pool.size(Bank::Int), pool.size(Bank::Float)],
            seen: vec![0; values],
            live_round: vec![0; values],
            round: 0,
            candidates: Vec::new(),
            wasted: FxHashSet::default(),
        }
    }

    fn restart(&mut self) {
        for table in
            [&mut self.plan.entry_first, &mut self.plan.exit_first, &mut self.plan.event_first]
        {
            table.truncate(1);
        }
        self.plan.entry.clear();
        self.plan.exit.clear();
        self.plan.events.clear();
        self.plan.memory.clear();
        self.plan.evictions.fill(0.0);
    }

    fn walk(&mut self) {
        for b in self.code.blocks.indices() {
            self.enter(b);
            self.plan.entry.extend(self.inside.iter().flatten());
            self.plan.entry_first.push(self.plan.entry.len() as u32);
            let block = &self.code.blocks[b];
            for (i, inst) in block.insts.iter().enumerate() {
                self.instruction(i as u32, inst, block.insts.len() as u32, block.frequency);
            }
            self.plan.exit.extend(self.inside.iter().flatten());
            self.plan.exit_first.push(self.plan.exit.len() as u32);
            self.plan.event_first.push(self.plan.events.len() as u32);
        }
    }

    fn add(&mut self, v: VReg, next: u32) {
        let inside = &mut self.inside[bank(self.code, v)];
        self.place[v.index()] = inside.len() as u32;
        self.next[v.index()] = next;
        inside.push(v);
    }

    fn remove(&mut self, v: VReg) {
        let inside = &mut self.inside[bank(self.code, v)];
        let at = self.place[v.index()] as usize;
        self.place[v.index()] = NONE;
        inside.swap_remove(at);
        if let Some(&moved) = inside.get(at) {
            self.place[moved.index()] = at as u32;
        }
    }

    fn is_inside(&self, v: VReg) -> bool {
        self.place[v.index()] != NONE
    }

    fn rematerialise(&self, v: VReg) -> bool {
        self.code.vregs[v].rematerialise
    }

    /// Chooses the values in registers at the start of a block.
    fn enter(&mut self, b: BlockId) {
        for bank in 0..2 {
            for v in self.inside[bank].drain(..) {
                self.place[v.index()] = NONE;
            }
        }
        let mut list = std::mem::take(&mut self.candidates);
        let (edges, total) = self.candidates(b, &mut list);
        if is_header(b, &self.code.blocks[b].preds) {
            self.choose_for_loop(b, &mut list, edges);
        } else {
            self.choose_for_join(b, &mut list, edges, total);
        }
        list.clear();
        self.candidates = list;
    }

    /// What is live at the start of a block, phis included, if some edge seen so far has it in a
    /// register, or if the block is a loop header and uses it in the loop. Also how many edges
    /// those are, and how often they are taken.
    fn candidates(&mut self, b: BlockId, list: &mut Vec<Candidate>) -> (u32, f32) {
        let code = self.code;
        let block = &code.blocks[b];
        for (phi, &next) in block.phis.iter().zip(self.live.phi_next(b)) {
            list.push(Candidate { value: phi.to, next, edges: 0, weight: 0.0 });
        }
        self.round += 1;
        let live_round = self.round;
        for &(v, d) in self.live.live_in(b) {
            self.live_round[v.index()] = live_round;
            self.next[v.index()] = d;
        }
        let (mut edges, mut total) = (0, 0.0);
        // `seen` of a live value is the place in the list, once `place` says it has one.
        let first = list.len();
        for &p in block.preds.iter().filter(|&&p| p < b) {
            let weight = edge_frequency(code, p, b);
            edges += 1;
            total += weight;
            self.round += 1;
            for i in self.plan.exit_first[p.index()]..self.plan.exit_first[p.index() + 1] {
                let v = self.plan.exit[i as usize];
                self.seen[v.index()] = self.round;
                if self.live_round[v.index()] != live_round {
                    continue;
                }
                if self.place[v.index()] == NONE {
                    self.place[v.index()] = list.len() as u32;
                    let next = self.next[v.index()];
                    list.push(Candidate { value: v, next, edges: 0, weight: 0.0 });
                }
                let candidate = &mut list[self.place[v.index()] as usize];
                candidate.edges += 1;
                candidate.weight += weight;
            }
            for out in self.live.outgoing(p).iter().filter(|out| out.block == b) {
                if self.seen[out.arg.index()] == self.round {
                    list[out.phi as usize].edges += 1;
                    list[out.phi as usize].weight += weight;
                }
            }
        }
        if is_header(b, &block.preds) {
            for &(v, next) in self.live.live_in(b) {
                if next < EXIT && self.place[v.index()] == NONE {
                    list.push(Candidate { value: v, next, edges: 0, weight: 0.0 });
                }
            }
        }
        for candidate in &list[first..] {
            self.place[candidate.value.index()] = NONE;
        }
        list.retain(|c| c.next != DEAD);
        (edges, total)
    }

    fn choose_for_join(
        &mut self,
        b: BlockId,
        candidates: &mut Vec<Candidate>,
        edges: u32,
        total: f32,
    ) {
        let length = self.code.blocks[b].insts.len() as u32;
        candidates.retain(|c| {
            c.edges == edges || c.next < length || c.next < EXIT && 2.0 * c.weight >= total
        });
        candidates.sort_by_key(|c| c.next);
        let mut room = self.size;
        for c in candidates.iter() {
            if take(&mut room[bank(self.code, c.value)]) {
                self.add(c.value, c.next);
            }
        }
    }

    fn choose_for_loop(&mut self, b: BlockId, candidates: &mut Vec<Candidate>, edges: u32) {
        let code = self.code;
        candidates.sort_by_key(|c| c.next);
        candidates.retain(|c| !self.wasted.contains(&(b, c.value)));
        let used = |c: &Candidate| c.next < EXIT;
        let mut through = [0; 2];
        for c in candidates.iter() {
            if !used(c) && !self.rematerialise(c.value) && c.edges == edges {
                through[bank(code, c.value)] += 1;
            }
        }
        let mut room = self.size;
        let mut spare = [0; 2];
        for n in 0..2 {
            let peak = self.live.peak[b][n] as usize;
            through[n] -= peak.saturating_sub(room[n]).min(through[n]);
            spare[n] = room[n].saturating_sub(peak);
        }
        let mut chosen: SmallVec<[(VReg, u32); 32]> = SmallVec::new();
        let mut pick = |c: &Candidate, limit: Option<&mut [usize; 2]>| {
            let n = bank(code, c.value);
            if limit.is_none_or(|limit| room[n] > 0 && take(&mut limit[n])) && take(&mut room[n]) {
                chosen.push((c.value, c.next));
            }
        };
        for c in candidates.iter().filter(|c| used(c) && !self.rematerialise(c.value)) {
            pick(c, None);
        }
        for c in candidates.iter().filter(|c| !used(c) && !self.rematerialise(c.value)) {
            if c.edges == edges {
                pick(c, Some(&mut through));
            }
        }
        for c in candidates.iter().filter(|c| used(c) && self.rematerialise(c.value)) {
            pick(c, Some(&mut spare));
        }
        for (v, next) in chosen {
            self.add(v, next);
        }
    }

    /// One instruction: brings in what it reads, makes room, adds what it defines.
    fn instruction(&mut self, i: u32, inst: &MInst, length: u32, frequency: f32) {
        let code = self.code;
        let operands = code.operands(inst);
        if operands.is_empty() && inst.clobbers == 0 {
            return;
        }
        let first = inst.first as usize;
        for (n, operand) in operands.iter().enumerate() {
            if operand.role == Role::Use {
                self.read(i, inst.op == op::COPY, operand, self.live.next[first + n], length);
            }
        }
        let demand = Demand::new(operands, code.clobbers(inst));
        let call = self.pool.is_call(demand.clobbers);
        for bank in [Bank::Int, Bank::Float] {
            // Most instructions leave room enough, whatever their operands ask for.
            let free = self.pool.allowed.in_bank(bank).without(demand.all()).len() as usize;
            if self.inside[bank as usize].len() + operands.len() <= free && !code.returns_twice {
                continue;
            }
            let mut room = self.room(operands, first, &demand, bank);
            if call && code.returns_twice {
                room.through = 0;
            }
            self.make_room(i, operands, bank, room, frequency);
        }
        for operand in operands.iter().filter(|o| o.role == Role::Use) {
            if self.is_inside(operand.reg) && self.next[operand.reg.index()] == DEAD {
                self.remove(operand.reg);
            }
        }
        for (n, operand) in operands.iter().enumerate() {
            let next = self.live.next[first + n];
            if operand.role != Role::Use && next != DEAD && !self.rematerialise(operand.reg) {
                self.add(operand.reg, next);
            }
        }
        for n in 0..2 {
            while self.inside[n].len() > self.size[n] {
                let v = *self.inside[n].iter().max_by_key(|v| self.next[v.index()]).expect("some");
                self.evict(i, v, frequency);
            }
        }
    }

    /// Sees to it that an operand can be read.
    fn read(&mut self, i: u32, copy: bool, operand: &Operand, next: u32, length: u32) {
        let v = operand.reg;
        if self.is_inside(v) {
            self.next[v.index()] = next;
            return;
        }
        let bank = bank(self.code, v);
        let remake = self.rematerialise(v);
        let in_place = match operand.constraint {
            Constraint::Fixed(_) => true,
            Constraint::Any => {
                !remake && (next >= length || self.inside[bank].len() >= self.size[bank])
            }
            Constraint::Reg | Constraint::Reuse(_) => false,
        };
        if !remake {
            self.plan.memory.insert(v);
        }
        if !in_place && !copy {
            self.plan.events.push(Event { inst: i, value: v, change: Change::Load });
            self.add(v, next);
        }
    }

    fn room(&self, operands: &[Operand], first: usize, demand: &Demand, bank: Bank) -> Room {
        let allowed = self.pool.allowed.in_bank(bank);
        let (mut early, mut dying, mut tied, mut late) = (0, 0, 0, 0);
        let dies = |n: usize| self.live.next[first + n] == DEAD;
        for (n, operand) in operands.iter().enumerate() {
            let info = self.code.vregs[operand.reg];
            let absent = info.rematerialise && operand.role != Role::Use;
            if info.bank != bank || absent || fixed(operands, operand).is_some() {
                continue;
            }
            match (operand.role, operand.constraint) {
                (Role::Use, _) => {
                    let counts = self.is_inside(operand.reg) && !repeated(operands, n);
                    dying += usize::from(dies(n) && counts);
                }
                (Role::EarlyDef, _) => early += 1,
                (Role::Def, Constraint::Reuse(u)) => {
                    tied += 1;
                    dying += usize::from(!ends_in_tie(operands, n, dies(u as usize)));
                }
                (Role::Def, _) => late += 1,
            }
        }
        let left = |taken, needed| (allowed.without(taken).len() as usize).saturating_sub(needed);
        Room {
            through: left(demand.all(), early + tied).min(left(demand.late(), early + tied + late)),
            early: left(demand.fixed_uses, early + dying),
        }
    }

    /// Evicts values until what lives through the instruction fits.
    fn make_room(
        &mut self,
        i: u32,
        operands: &[Operand],
        bank: Bank,
        mut room: Room,
        frequency: f32,
    ) {
        let n = bank as usize;
        loop {
            let (mut alive, mut unread) = (0, 0);
            let (mut farthest, mut farthest_unread) = (None, None);
            for &v in &self.inside[n] {
                let next = self.next[v.index()];
                if next == DEAD {
                    continue;
                }
                alive += 1;
                farthest = farthest.max(Some((next, v)));
                if !reads(operands, v) {
                    unread += 1;
                    farthest_unread = farthest_unread.max(Some((next, v)));
                }
            }
            let victim = if unread > 0 && alive > room.early {
                farthest_unread
            } else if alive > room.through {
                farthest
            } else {
                return;
            };
            let Some((_, v)) = victim else { return };
            // Still takes a register while the instruction reads.
            room.early = room.early.saturating_sub(usize::from(reads(operands, v)));
            self.evict(i, v, frequency);
        }
    }

    fn evict(&mut self, i: u32, v: VReg, frequency: f32) {
        self.remove(v);
        self.plan.events.push(Event { inst: i, value: v, change: Change::Evict });
        if !self.rematerialise(v) {
            self.plan.memory.insert(v);
            self.plan.evictions[v.index()] += frequency;
        }
    }

    /// Notes the values that a loop header has in a register but the end of the loop has not:
    /// reloading them on each trip is no better than at their uses. True if there are any.
    fn find_wasted(&mut self) -> bool {
        for b in self.code.blocks.indices() {
            for &p in self.code.blocks[b].preds.iter().filter(|&&p| p >= b) {
                self.round += 1;
                for &v in self.plan.exit(p) {
                    self.seen[v.index()] = self.round;
                }
                for &v in self.plan.entry(b) {
                    let phi = self.live.definition[v].block == b;
                    if !phi && self.seen[v.index()] != self.round {
                        self.wasted.insert((b, v));
                    }
                }
            }
        }
        !self.wasted.is_empty()
    }

    /// What edges need in memory, and what they evict.
    fn edges(&mut self) {
        let code = self.code;
        self.place.fill(NONE);
        for b in code.blocks.indices() {
            let block = &code.blocks[b];
            if block.phis.is_empty() && block.preds.len() == 1 && !is_header(b, &block.preds) {
                continue;
            }
            self.round += 1;
            let live_round = self.round;
            for &(v, _) in self.live.live_in(b) {
                self.live_round[v.index()] = live_round;
            }
            self.round += 1;
            let entry_round = self.round;
            let entry: Vec<VReg> = self.plan.entry(b).to_vec();
            // `place` is free now: it marks what the block has in registers.
            for &v in &entry {
                self.place[v.index()] = entry_round;
            }
            for &p in &block.preds {
                self.edge(p, b, &entry, live_round, entry_round);
            }
        }
    }

    fn edge(&mut self, p: BlockId, b: BlockId, entry: &[VReg], live_round: u32, entry_round: u32) {
        self.round += 1;
        for i in self.plan.exit_first[p.index()]..self.plan.exit_first[p.index() + 1] {
            let v = self.plan.exit[i as usize];
            self.seen[v.index()] = self.round;
            let leaves = self.live_round[v.index()] == live_round
                && self.place[v.index()] != entry_round
                && !self.rematerialise(v);
            if leaves {
                self.plan.memory.insert(v);
                self.plan.evictions[v.index()] += edge_frequency(self.code, p, b);
            }
        }
        for &v in entry {
            let missing = self.live_round[v.index()] == live_round
                && self.seen[v.index()] != self.round
                && !self.rematerialise(v);
            if missing {
                self.plan.memory.insert(v);
            }
        }
        for out in self.live.outgoing(p).iter().filter(|out| out.block == b) {
            if self.live.phi_next(b)[out.phi as usize] == DEAD {
                continue;
            }
            let phi = self.code.blocks[b].phis[out.phi as usize].to;
            if self.place[phi.index()] != entry_round {
                self.plan.memory.insert(phi);
            }
            if self.seen[out.arg.index()] != self.round && !self.rematerialise(out.arg) {
                self.plan.memory.insert(out.arg);
            }
        }
    }
}

/// Whether an earlier operand of the instruction reads the same value from any register.
fn repeated(operands: &[Operand], n: usize) -> bool {
    operands[..n].iter().any(|o| {
        o.reg == operands[n].reg
            && o.role == Role::Use
            && !matches!(o.constraint, Constraint::Fixed(_))
    })
}

/// Whether the instruction reads a value from a register of any kind.
fn reads(operands: &[Operand], v: VReg) -> bool {
    operands
        .iter()
        .any(|o| o.reg == v && o.role == Role::Use && !matches!(o.constraint, Constraint::Fixed(_)))
}

/// Takes one of a number, if there is one.
fn take(room: &mut usize) -> bool {
    let some = *room > 0;
    *room -= usize::from(some);
    some
}
