//! Computations move to where they run less often.
//!
//! Sinking: a pure instruction whose uses are all in less frequent blocks moves there, into no
//! loop. One backward sweep, in which the common dominator of a value's uses is known when the
//! value is reached. Hoisting: a pure instruction that cannot trap and whose operands come from
//! outside a loop moves in front of it, if that saves an instruction in every iteration: what
//! addresses and branches do for nothing stays, unless something that moves needs it. A budget
//! a loop keeps registers free.
//!
//! Needs the CFG, dominators, loops. Changes the places of instructions, no block and no edge.

use super::Env;
use crate::analysis::Facts;
use crate::analysis::loops::LoopId;
use crate::analysis::references::calls_return_twice;
use crate::index::{BitSet, IndexVec};
use crate::ir::{BlockId, Function, Inst, Op, Ref, TempId};

/// Moves computations in `f`; true if any moved.
pub fn run(f: &mut Function, facts: &Facts, env: &Env<'_>) -> bool {
    // Nothing moves over a call that returns twice.
    !calls_return_twice(f, env.module) && code_motion(f, facts)
}

/// Steps up the dominator tree in search of the common dominator of two uses.
const MAX_CLIMB: usize = 64;
/// Loops deeper than this are left alone.
const MAX_DEPTH: u32 = 32;
/// Values that may be kept in registers through a loop for having been hoisted.
const BUDGET: u32 = 5;
/// The same for a loop with calls, over which few registers are kept.
const BUDGET_WITH_CALLS: u32 = 3;

/// Moves computations.
pub fn code_motion(f: &mut Function, facts: &Facts) -> bool {
    let sunk = Sinking::new(f, facts).sweep(f);
    let hoisted = !facts.loops.loops.is_empty() && Hoisting::new(f, facts).sweep(f);
    sunk | hoisted
}

/// Where the uses of a value are.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Uses {
    None,
    /// All are in blocks that this one dominates.
    Below(BlockId),
    /// Too far apart.
    Anywhere,
}

struct Sinking<'a> {
    facts: &'a Facts,
    uses: IndexVec<TempId, Uses>,
    /// What sank into each block, last first.
    sunk: IndexVec<BlockId, Vec<Inst>>,
}

impl<'a> Sinking<'a> {
    fn new(f: &Function, facts: &'a Facts) -> Sinking<'a> {
        let mut sinking = Sinking {
            facts,
            uses: IndexVec::filled(Uses::None, f.temps.len()),
            sunk: IndexVec::filled(Vec::new(), f.blocks.len()),
        };
        // An argument of a phi is used at the end of the edge's source, be it ahead or behind.
        for &b in &facts.cfg.rpo {
            for phi in &f.blocks[b].phis {
                for &(from, r) in phi.args.iter().filter(|(from, _)| facts.cfg.is_reachable(*from))
                {
                    sinking.used(r, from);
                }
            }
        }
        sinking
    }

    fn used(&mut self, r: Ref, b: BlockId) {
        if let Some(t) = r.as_temp() {
            self.uses[t] = match self.uses[t] {
                Uses::None => Uses::Below(b),
                Uses::Below(a) => self.common(a, b).map_or(Uses::Anywhere, Uses::Below),
                Uses::Anywhere => Uses::Anywhere,
            };
        }
    }

    fn common(&self, mut a: BlockId, b: BlockId) -> Option<BlockId> {
        let tree = &self.facts.dominators;
        if tree.dominates(b, a) {
            return Some(b);
        }
        for _ in 0..MAX_CLIMB {
            if tree.dominates(a, b) {
                return Some(a);
            }
            a = tree.idom[a]?;
        }
        None
    }

    fn sweep(mut self, f: &mut Function) -> bool {
        let mut changed = false;
        for &b in self.facts.cfg.rpo.iter().rev() {
            self.used(f.blocks[b].jump.arg(), b);
            let mut insts = std::mem::take(&mut f.blocks[b].insts);
            for i in (0..insts.len()).rev() {
                let inst = insts[i];
                let place = self.place(&inst, b);
                f.for_each_use(&inst, |r| self.used(r, place));
                if place != b {
                    self.sunk[place].push(inst);
                    insts[i] = Inst::nop();
                    changed = true;
                }
            }
            insts.retain(|inst| inst.op != Op::Nop);
            f.blocks[b].insts = insts;
        }
        for (b, sunk) in self.sunk.enumerate_mut() {
            if !sunk.is_empty() {
                sunk.reverse();
                sunk.append(&mut f.blocks[b].insts);
                f.blocks[b].insts = std::mem::take(sunk);
            }
        }
        changed
    }

    /// The block where an instruction of `b` should be.
    fn place(&self, inst: &Inst, b: BlockId) -> BlockId {
        let Facts { loops, dominators, frequency, .. } = self.facts;
        let Some(to) = inst.to else { return b };
        let Uses::Below(mut place) = self.uses[to] else { return b };
        if place == b || !inst.op.is_pure() {
            return b;
        }
        // Out of the loops that b is not in.
        for hops in 0.. {
            let Some(l) = loops.innermost[place].filter(|&l| !loops.contains(l, b)) else { break };
            match dominators.idom[loops.loops[l].header] {
                Some(up) if hops < MAX_CLIMB => place = up,
                _ => return b,
            }
        }
        let sinks =
            dominators.strictly_dominates(b, place) && frequency.of(place) < 0.9 * frequency.of(b);
        if sinks { place } else { b }
    }
}

/// What is to become of an instruction.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Plan {
    Stays,
    /// It can move in front of this loop, but need not.
    Can(LoopId),
    Moves(LoopId),
}

struct Hoisting<'a> {
    facts: &'a Facts,
    /// The block that defines a temporary; `None` for parameters.
    home: IndexVec<TempId, Option<BlockId>>,
    plans: IndexVec<TempId, Plan>,
    /// Values kept in registers through each loop so far.
    kept: IndexVec<LoopId, u32>,
    calls: BitSet<LoopId>,
}

impl<'a> Hoisting<'a> {
    fn new(f: &Function, facts: &'a Facts) -> Hoisting<'a> {
        let n = f.temps.len();
        let count = facts.loops.loops.len();
        let mut hoisting = Hoisting {
            facts,
            home: IndexVec::filled(None, n),
            plans: IndexVec::filled(Plan::Stays, n),
            kept: IndexVec::filled(0, count),
            calls: BitSet::new(count),
        };
        for &b in &facts.cfg.rpo {
            let block = &f.blocks[b];
            block.phis.iter().for_each(|phi| hoisting.home[phi.to] = Some(b));
            for inst in &block.insts {
                if let Some(to) = inst.to {
                    hoisting.home[to] = Some(b);
                }
                if inst.op == Op::Call {
                    hoisting.mark_call(b);
                }
            }
        }
        hoisting
    }

    fn mark_call(&mut self, b: BlockId) {
        let loops = &self.facts.loops;
        let mut at = loops.innermost[b];
        while let Some(l) = at
            && self.calls.insert(l)
        {
            at = loops.loops[l].parent;
        }
    }

    fn sweep(mut self, f: &mut Function) -> bool {
        let rpo = &self.facts.cfg.rpo;
        for &b in rpo {
            for inst in &f.blocks[b].insts {
                self.plan(inst, b);
            }
        }
        for &b in rpo.iter().rev() {
            for inst in f.blocks[b].insts.iter().rev() {
                self.decide(f, inst, b);
            }
        }
        let mut changed = false;
        for &b in rpo {
            if self.facts.loops.innermost[b].is_none() {
                continue;
            }
            let mut insts = std::mem::take(&mut f.blocks[b].insts);
            insts.retain(|inst| {
                let Some(to) = inst.to else { return true };
                let Plan::Moves(l) = self.plans[to] else { return true };
                let front = self.front(l).expect("planned");
                f.blocks[front].insts.push(*inst);
                changed = true;
                false
            });
            f.blocks[b].insts = insts;
        }
        changed
    }

    /// The block at whose end stands what is hoisted out of `l`: one outside that dominates it.
    fn front(&self, l: LoopId) -> Option<BlockId> {
        let loops = &self.facts.loops;
        let front = self.facts.dominators.idom[loops.loops[l].header]?;
        (loops.innermost[front] == loops.loops[l].parent).then_some(front)
    }

    /// Finds the outermost loop that an instruction can move out of.
    fn plan(&mut self, inst: &Inst, b: BlockId) {
        let loops = &self.facts.loops;
        let (Some(to), Some(innermost)) = (inst.to, loops.innermost[b]) else { return };
        if !inst.op.is_pure() || inst.op.traps() || loops.loops[innermost].depth > MAX_DEPTH {
            return;
        }
        let mut best = None;
        let mut at = Some(innermost);
        while let Some(l) = at {
            let inside = |r: &Ref| r.as_temp().is_some_and(|t| self.is_inside(t, l));
            if inst.operands().iter().any(inside) || self.front(l).is_none() {
                break;
            }
            best = Some(l);
            at = loops.loops[l].parent;
        }
        if let Some(l) = best {
            self.plans[to] = Plan::Can(l);
        }
    }

    /// True if the value comes from inside the loop even after everything that can move has.
    fn is_inside(&self, t: TempId, l: LoopId) -> bool {
        let loops = &self.facts.loops;
        let Some(home) = self.home[t] else { return false };
        match self.plans[t] {
            Plan::Stays => loops.contains(l, home),
            // It can be had in front of `out`; that is inside `l` if `out` is and is not `l`.
            Plan::Can(out) | Plan::Moves(out) => {
                let header = loops.loops[out].header;
                out != l && loops.contains(l, header)
            }
        }
    }

    /// Hoists an instruction that is worth it, and asks for its operands.
    fn decide(&mut self, f: &Function, inst: &Inst, b: BlockId) {
        let Some(to) = inst.to else { return };
        let l = match self.plans[to] {
            Plan::Stays => return,
            Plan::Moves(l) => l,
            Plan::Can(l) => {
                if !self.is_worth_it(f, inst, b, l) || !self.take_register(b, l) {
                    self.plans[to] = Plan::Stays;
                    return;
                }
                self.plans[to] = Plan::Moves(l);
                l
            }
        };
        for t in inst.operands().iter().filter_map(|r| r.as_temp()) {
            if let Plan::Can(out) = self.plans[t]
                && self.home[t].is_some_and(|home| self.facts.loops.contains(l, home))
            {
                self.plans[t] = Plan::Moves(out);
            }
        }
    }

    /// True if hoisting saves an instruction most times around the loop.
    fn is_worth_it(&self, f: &Function, inst: &Inst, b: BlockId, l: LoopId) -> bool {
        let Facts { loops, frequency, .. } = self.facts;
        let constant = inst.operands().last().and_then(|&r| f.bits_as(r, inst.class));
        let free = match inst.op {
            // Displacements and scales of addresses; copies that selection sees through.
            Op::Add | Op::Sub => constant.is_some(),
            Op::Shl => constant.is_some_and(|c| c <= 3),
            Op::Extuw | Op::Copy | Op::Nop | Op::Cast => true,
            // Selection compares again in front of each branch and select.
            op => op.comparison().is_some(),
        };
        let address_of_slot = inst.operands().iter().any(|r| r.as_slot().is_some());
        let often = frequency.of(b) >= 0.4 * frequency.of(loops.loops[l].header);
        !free && !address_of_slot && often && inst.operands().iter().any(|r| r.as_temp().is_some())
    }

    /// Takes a register through all loops between `b` and the front of `l`, if there is one left.
    fn take_register(&mut self, b: BlockId, l: LoopId) -> bool {
        let loops = &self.facts.loops;
        let outside = loops.loops[l].parent;
        let around = |visit: &mut dyn FnMut(LoopId) -> bool| {
            let mut at = loops.innermost[b];
            while at != outside {
                let Some(l) = at else { break };
                if !visit(l) {
                    return false;
                }
                at = loops.loops[l].parent;
            }
            true
        };
        let Hoisting { kept, calls, .. } = self;
        let limit = |l: LoopId| if calls.contains(l) { BUDGET_WITH_CALLS } else { BUDGET };
        let free = around(&mut |l| kept[l] < limit(l));
        if free {
            around(&mut |l| {
                kept[l] += 1;
                true
            });
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::FactSet;
    use crate::opt::testing::assert_becomes;

    fn becomes(before: &str, after: &str) {
        assert_becomes(before, after, |f| {
            let mut facts = Facts::default();
            facts.require(f, FactSet::ALL);
            code_motion(f, &facts)
        });
    }

    #[test]
    fn what_one_branch_needs_is_computed_there() {
        becomes(
            "function w $f(w %a, w %b) {
            @start
                %x =w mul %a, %b
                %y =w add %x, 1
                %z =w sub %a, %b
                jnz %a, @left, @right
            @left
                %u =w add %y, %z
                ret %u
            @right
                ret %z
            }",
            "function w $f(w %a, w %b) {
            @start
            %z =w sub %a, %b
            jnz %a, @left, @right
            @left
            %x =w mul %a, %b
            %y =w add %x, 1
            %u =w add %y, %z
            ret %u
            @right
            ret %z
            }",
        );
    }

    #[test]
    fn nothing_sinks_into_a_loop_or_is_read_from_memory_later() {
        let text = "function w $f(w %a, l %p) {
            @start
            %x =w extub %a
            %y =w loadsw %p
            jnz %a, @loop, @end
            @loop
            %i =w phi @start 0, @loop %j
            %j =w add %i, %x
            %k =w sub %j, %y
            jnz %k, @loop, @end
            @end
            ret 0
            }";
        becomes(text, text);
    }

    #[test]
    fn invariants_leave_loops_with_what_they_need() {
        becomes(
            "function l $f(l %n, l %m, l %p) {
            @start
            @outer
                %i =l phi @start 0, @next %i1
            @loop
                %j =l phi @outer 0, @loop %j1
                %r =l mul %i, %n
                %s =l shl %r, 3
                %q =l add %p, %s
                %d =l div %n, %m
                %o =l shl %j, 3
                %e =l add %q, %o
                storel %d, %e
                %j1 =l add %j, 1
                %c =w csltl %j1, %n
                jnz %c, @loop, @next
            @next
                %i1 =l add %i, 1
                %g =w csltl %i1, %m
                jnz %g, @outer, @end
            @end
                ret 0
            }",
            "function l $f(l %n, l %m, l %p) {
            @start
            @outer
            %i =l phi @start 0, @next %i1
            %r =l mul %i, %n
            %s =l shl %r, 3
            %q =l add %p, %s
            @loop
            %j =l phi @outer 0, @loop %j1
            %d =l div %n, %m
            %o =l shl %j, 3
            %e =l add %q, %o
            storel %d, %e
            %j1 =l add %j, 1
            %c =w csltl %j1, %n
            jnz %c, @loop, @next
            @next
            %i1 =l add %i, 1
            %g =w csltl %i1, %m
            jnz %g, @outer, @end
            @end
            ret 0
            }",
        );
    }

    #[test]
    fn displacements_scales_and_rare_blocks_stay_in_the_loop() {
        let text = "function w $f(w %n, l %p, l %q) {
            @start
            @loop
            %i =w phi @start 0, @next %i1
            %a =l add %p, 8
            %x =w loadsw %a
            %s =l shl %q, 2
            %e =l add %a, %s
            %y =w loadsw %e
            jnz %x, @next, @rare
            @rare
            jnz %y, @next, @rarer
            @rarer
            %m =w mul %n, %n
            storew %m, %p
            @next
            %i1 =w add %i, 1
            %c =w csltw %i1, %n
            jnz %c, @loop, @end
            @end
            ret 0
            }";
        let (module, mut f) = crate::opt::testing::read(text);
        let mut facts = Facts::default();
        facts.require(&f, FactSet::ALL);
        code_motion(&mut f, &facts);
        let shown = crate::opt::testing::show(&module, &f);
        // The sum of two invariants goes, with what it needs; the product of the rare block stays.
        let (front, inside) = shown.split_once("@loop").expect("a loop");
        assert!(front.contains("%e =l add") && inside.contains("%m =w mul"), "{shown}");
    }
}
