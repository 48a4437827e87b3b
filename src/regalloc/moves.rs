//! Parallel moves: all sources are read before any destination is written. This file turns a set
//! of them into a sequence of steps.
//!
//! A destination is written once nothing waits to read it. What is left then are cycles: those are
//! opened with a free register, else an exchange of two integer registers, else a spill slot. A
//! move from slot to slot goes through a free register, else through one that is saved meanwhile.

use crate::index::{Index, IndexVec};
use crate::ir::BlockId;
use crate::target::machine::{Bank, Location, PReg, PRegSet, SpillId, Step};

/// Where a moved value comes from.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Source {
    At(Location),
    /// Made anew by that instruction.
    Rematerialise(BlockId, u32),
}

/// One of a set of parallel moves. Destinations are different from each other.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Move {
    pub from: Source,
    pub to: Location,
    pub bank: Bank,
    pub size: u8,
}

/// What the resolver may use besides the locations of the moves, and what it used.
pub struct Resolver {
    victims: [PReg; 2],
    /// Slots for values that no register is free for, made when first needed: one for a value of
    /// a cycle, one for a saved register.
    emergency: [Option<SpillId>; 2],
    nodes: Vec<Location>,
    /// Of each node: the move that writes it, and how many wait to read it.
    writer: Vec<u32>,
    readers: Vec<u32>,
    ready: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Resolver {
    /// `victims` are a register of each bank that may be saved and used if none is free.
    pub fn new(victims: [PReg; 2]) -> Resolver {
        Resolver {
            victims,
            emergency: [None; 2],
            nodes: Vec::new(),
            writer: Vec::new(),
            readers: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// Appends the steps of `moves` to `out`. `scratch` are registers that hold nothing before
    /// and are the destination of nothing. `spills` is the function's table of slots.
    pub fn run(
        &mut self,
        moves: &[Move],
        scratch: PRegSet,
        spills: &mut IndexVec<SpillId, ()>,
        out: &mut Vec<Step>,
    ) {
        if let [only] = moves {
            // By far the most frequent case.
            if only.from != Source::At(only.to) {
                self.emit(only, only.from, only.to, scratch, spills, out);
            }
            return;
        }
        self.prepare(moves);
        loop {
            while let Some(n) = self.ready.pop() {
                let mv = &moves[self.writer[n as usize] as usize];
                self.writer[n as usize] = NONE;
                self.emit(mv, mv.from, mv.to, scratch, spills, out);
                if let Source::At(from) = mv.from {
                    self.release(from);
                }
            }
            let Some(start) = self.cycle_start() else { break };
            self.cycle(moves, start, scratch, spills, out);
        }
    }

    fn node(&self, location: Location) -> Option<usize> {
        self.nodes.binary_search_by_key(&key(location), |l| key(*l)).ok()
    }

    fn prepare(&mut self, moves: &[Move]) {
        self.nodes.clear();
        self.nodes.extend(moves.iter().filter(|m| m.from != Source::At(m.to)).map(|m| m.to));
        self.nodes.sort_unstable_by_key(|l| key(*l));
        self.writer.clear();
        self.writer.resize(self.nodes.len(), NONE);
        self.readers.clear();
        self.readers.resize(self.nodes.len(), 0);
        for (i, m) in moves.iter().enumerate() {
            if m.from == Source::At(m.to) {
                continue;
            }
            let to = self.node(m.to).expect("every destination is a node");
            debug_assert_eq!(self.writer[to], NONE, "two moves to {:?}", m.to);
            self.writer[to] = i as u32;
            if let Source::At(from) = m.from
                && let Some(n) = self.node(from)
            {
                self.readers[n] += 1;
            }
        }
        self.ready.clear();
        self.ready.extend(
            (0..self.nodes.len() as u32)
                .rev()
                .filter(|&n| self.readers[n as usize] == 0 && self.writer[n as usize] != NONE),
        );
    }

    /// A reader of `from` is done.
    fn release(&mut self, from: Location) {
        if let Some(n) = self.node(from) {
            self.readers[n] -= 1;
            if self.readers[n] == 0 && self.writer[n] != NONE {
                self.ready.push(n as u32);
            }
        }
    }

    /// A node of a cycle; a register if there is one.
    fn cycle_start(&self) -> Option<usize> {
        let waiting = |n: &usize| self.writer[*n] != NONE;
        (0..self.nodes.len())
            .filter(waiting)
            .min_by_key(|&n| matches!(self.nodes[n], Location::Spill(_)))
    }

    /// Does the cycle through node `start`. Every node of it has one reader: the next of it.
    fn cycle(
        &mut self,
        moves: &[Move],
        start: usize,
        scratch: PRegSet,
        spills: &mut IndexVec<SpillId, ()>,
        out: &mut Vec<Step>,
    ) {
        let mut ring = Vec::new();
        let mut n = start;
        loop {
            let mv = moves[self.writer[n] as usize];
            self.writer[n] = NONE;
            self.readers[n] = 0;
            ring.push(mv);
            let Source::At(from) = mv.from else { unreachable!("waits for nothing") };
            n = self.node(from).expect("a cycle's sources are its destinations");
            if n == start {
                break;
            }
        }
        let last = ring[ring.len() - 1];
        let free = scratch.in_bank(last.bank).iter().next();
        let all_int =
            ring.iter().all(|m| matches!(m.to, Location::Reg(r) if r.bank() == Bank::Int));
        if free.is_none() && all_int {
            for m in &ring[..ring.len() - 1] {
                if let (Source::At(Location::Reg(a)), Location::Reg(b)) = (m.from, m.to) {
                    out.push(Step::Swap(a, b));
                }
            }
            return;
        }
        let hold = match free {
            Some(r) => Location::Reg(r),
            None => Location::Spill(self.emergency(0, spills)),
        };
        let rest = free.map_or(scratch, |r| {
            let mut rest = scratch;
            rest.remove(r);
            rest
        });
        // The value in the first destination is what the last move of the ring reads.
        let first = Source::At(ring[0].to);
        self.emit(&last, first, hold, rest, spills, out);
        for m in &ring[..ring.len() - 1] {
            self.emit(m, m.from, m.to, rest, spills, out);
        }
        self.emit(&last, Source::At(hold), last.to, rest, spills, out);
    }

    fn emergency(&mut self, which: usize, spills: &mut IndexVec<SpillId, ()>) -> SpillId {
        *self.emergency[which].get_or_insert_with(|| spills.push(()))
    }

    /// Emits one move, in two halves where it goes from slot to slot.
    fn emit(
        &mut self,
        mv: &Move,
        from: Source,
        to: Location,
        scratch: PRegSet,
        spills: &mut IndexVec<SpillId, ()>,
        out: &mut Vec<Step>,
    ) {
        let Location::Spill(_) = to else {
            return push(mv, from, to, out);
        };
        if let Source::At(Location::Reg(_)) = from {
            return push(mv, from, to, out);
        }
        if let Some(r) = scratch.in_bank(mv.bank).iter().next() {
            push(mv, from, Location::Reg(r), out);
            push(mv, Source::At(Location::Reg(r)), to, out);
            return;
        }
        let slot = Location::Spill(self.emergency(1, spills));
        let saved = Location::Reg(match mv.bank {
            Bank::Int => self.victims[0],
            Bank::Float => self.victims[1],
        });
        out.push(Step::Move { from: saved, to: slot, size: 8 });
        push(mv, from, saved, out);
        push(mv, Source::At(saved), to, out);
        out.push(Step::Move { from: slot, to: saved, size: 8 });
    }
}

fn key(location: Location) -> usize {
    match location {
        Location::Reg(r) => r.index(),
        Location::Spill(s) => 64 + s.index(),
    }
}

fn push(mv: &Move, from: Source, to: Location, out: &mut Vec<Step>) {
    match (from, to) {
        (Source::At(from), to) => out.push(Step::Move { from, to, size: mv.size }),
        (Source::Rematerialise(block, inst), Location::Reg(to)) => {
            out.push(Step::Rematerialise { block, inst, to });
        }
        (Source::Rematerialise(..), Location::Spill(_)) => {
            unreachable!("goes through a register")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regalloc::testing::Random;
    use std::collections::HashMap;

    fn location(n: usize) -> Location {
        match n {
            0..6 => Location::Reg(PReg::int(n as u8)),
            6..10 => Location::Reg(PReg::float(n as u8 - 6)),
            _ => Location::Spill(SpillId::new(n - 10)),
        }
    }

    /// The values after some steps; a location never written holds its own name.
    fn replay(steps: &[Step]) -> HashMap<Location, Source> {
        let mut state = HashMap::new();
        let get = |state: &HashMap<_, _>, l| *state.get(&l).unwrap_or(&Source::At(l));
        for step in steps {
            match *step {
                Step::Move { from, to, .. } => {
                    let spills = [from, to].iter().all(|l| matches!(l, Location::Spill(_)));
                    assert!(!spills, "from slot to slot");
                    state.insert(to, get(&state, from));
                }
                Step::Swap(a, b) => {
                    assert_eq!((a.bank(), b.bank()), (Bank::Int, Bank::Int));
                    let (a, b) = (Location::Reg(a), Location::Reg(b));
                    let (x, y) = (get(&state, a), get(&state, b));
                    state.insert(a, y);
                    state.insert(b, x);
                }
                Step::Rematerialise { block, inst, to } => {
                    state.insert(Location::Reg(to), Source::Rematerialise(block, inst));
                }
                Step::Inst(_) => unreachable!(),
            }
        }
        state
    }

    #[test]
    fn moves_are_parallel() {
        for seed in 0..20_000 {
            let mut random = Random::new(seed);
            let mut spills: IndexVec<SpillId, ()> = IndexVec::filled((), 6);
            let mut moves = Vec::new();
            let mut scratch = PRegSet::EMPTY;
            for n in 0..16 {
                let to = location(n);
                if random.below(3) == 0 {
                    if let Location::Reg(r) = to
                        && random.below(3) == 0
                    {
                        scratch.insert(r);
                    }
                    continue;
                }
                // Slots may hold values of either bank.
                let bank = match to {
                    Location::Reg(r) => r.bank(),
                    Location::Spill(s) if s.index() < 3 => Bank::Int,
                    Location::Spill(_) => Bank::Float,
                };
                let from = match (random.below(8), bank) {
                    (0, _) => Source::Rematerialise(BlockId::new(0), n as u32),
                    (1..4, Bank::Int) => Source::At(location(10 + random.below(3))),
                    (1..4, Bank::Float) => Source::At(location(13 + random.below(3))),
                    (_, Bank::Int) => Source::At(location(random.below(6))),
                    (_, Bank::Float) => Source::At(location(6 + random.below(4))),
                };
                moves.push(Move { from, to, bank, size: 8 });
            }
            for m in &moves {
                if let Source::At(Location::Reg(r)) = m.from {
                    scratch.remove(r);
                }
            }
            let mut steps = Vec::new();
            let mut resolver = Resolver::new([PReg::int(0), PReg::float(0)]);
            resolver.run(&moves, scratch, &mut spills, &mut steps);
            let state = replay(&steps);
            for n in 0..16 {
                let l = location(n);
                let want = moves.iter().find(|m| m.to == l).map_or(Source::At(l), |m| m.from);
                let got = *state.get(&l).unwrap_or(&Source::At(l));
                let free = matches!(l, Location::Reg(r) if scratch.contains(r));
                assert!(free || got == want, "seed {seed}: {l:?}\n{moves:?}\n{steps:?}");
            }
        }
    }

    #[test]
    fn a_cycle_takes_a_free_register_or_swaps() {
        let reg = |n| Location::Reg(PReg::int(n));
        let moves: Vec<Move> = [(0, 1), (1, 2), (2, 0)]
            .iter()
            .map(|&(from, to)| Move {
                from: Source::At(reg(from)),
                to: reg(to),
                bank: Bank::Int,
                size: 8,
            })
            .collect();
        let mut spills = IndexVec::new();
        for (scratch, length) in [(PRegSet::EMPTY, 2), (PRegSet::of(&[PReg::int(5)]), 4)] {
            let mut steps = Vec::new();
            let mut resolver = Resolver::new([PReg::int(0), PReg::float(0)]);
            resolver.run(&moves, scratch, &mut spills, &mut steps);
            assert_eq!(steps.len(), length);
            assert!(spills.is_empty());
        }
    }
}
