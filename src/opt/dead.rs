//! Dead code: instructions and phis whose results nothing that matters reads.
//!
//! Marks what has an effect, then what that reads, and so on from a work list; the rest goes. So
//! phis that only feed each other go too. Calls stay, whatever becomes of their results; loads
//! that are not volatile and divisions go although they may trap.
//!
//! Needs the CFG. Changes instructions and phis, no block and no edge.

use super::Env;
use crate::analysis::Facts;
use crate::index::{BitSet, IndexVec};
use crate::ir::ops::Effect;
use crate::ir::{BlockId, Function, Inst, Op, Ref, TempId};

/// Removes dead code from `f`; true if there was any.
pub fn run(f: &mut Function, facts: &Facts, _env: &Env<'_>) -> bool {
    dead(f, &facts.cfg.rpo)
}

/// Where a temporary is defined.
#[derive(Copy, Clone)]
enum Place {
    /// A parameter, or in a dead block.
    Outside,
    Phi(BlockId, u32),
    Inst(BlockId, u32),
}

/// Removes dead code from the blocks of `rpo`.
pub fn dead(f: &mut Function, rpo: &[BlockId]) -> bool {
    let mut places = IndexVec::filled(Place::Outside, f.temps.len());
    let mut marks = Marks { live: BitSet::new(f.temps.len()), work: Vec::new() };
    for &b in rpo {
        let block = &f.blocks[b];
        for (i, phi) in block.phis.iter().enumerate() {
            places[phi.to] = Place::Phi(b, i as u32);
        }
        for (i, inst) in block.insts.iter().enumerate() {
            if let Some(to) = inst.to {
                places[to] = Place::Inst(b, i as u32);
            }
            if has_effect(inst) {
                f.for_each_use(inst, |r| marks.mark(r));
            }
        }
        marks.mark(block.jump.arg());
    }
    while let Some(t) = marks.work.pop() {
        match places[t] {
            Place::Outside => {}
            Place::Phi(b, i) => {
                let phi = &f.blocks[b].phis[i as usize];
                phi.args.iter().for_each(|&(_, r)| marks.mark(r));
            }
            Place::Inst(b, i) => {
                let inst = f.blocks[b].insts[i as usize];
                f.for_each_use(&inst, |r| marks.mark(r));
            }
        }
    }
    sweep(f, rpo, &marks.live)
}

/// The temporaries known to matter, and those whose definitions are still to be looked at.
struct Marks {
    live: BitSet<TempId>,
    work: Vec<TempId>,
}

impl Marks {
    fn mark(&mut self, r: Ref) {
        if let Some(t) = r.as_temp()
            && self.live.insert(t)
        {
            self.work.push(t);
        }
    }
}

fn sweep(f: &mut Function, rpo: &[BlockId], live: &BitSet<TempId>) -> bool {
    let mut changed = false;
    for &b in rpo {
        let block = &mut f.blocks[b];
        let before = block.insts.len() + block.phis.len();
        block.phis.retain(|phi| live.contains(phi.to));
        let wanted = |inst: &Inst| inst.to.is_some_and(|t| live.contains(t));
        block.insts.retain(|inst| has_effect(inst) || wanted(inst));
        changed |= before != block.insts.len() + block.phis.len();
    }
    changed
}

/// True if the instruction has to stay even if nothing reads its result.
fn has_effect(inst: &Inst) -> bool {
    match inst.op.row().effect {
        Effect::Pure => false,
        Effect::Read => inst.volatile,
        Effect::Write | Effect::Any => true,
        // A run-time allocation that nothing uses is not worth its stack.
        Effect::Pinned => inst.op == Op::Dbgloc,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::Cfg;
    use crate::opt::testing::assert_becomes;

    #[test]
    fn phis_that_only_feed_each_other_go_and_effects_stay() {
        assert_becomes(
            "function w $f(w %a, l %p) {
            @start
            @loop
                %i =w phi @start 0, @loop %j
                %n =w phi @start %a, @loop %m
                %j =w add %i, 1
                %m =w sub %n, 1
                %d =w div %i, %a
                %u =w loadw %p
                %v =w volatile loadw %p
                %c =w call $g(w %m)
                jnz %m, @loop, @out
            @out
                ret %n
            }",
            "function w $f(w %a, l %p) {
            @start
            @loop
            %n =w phi @start %a, @loop %m
            %m =w sub %n, 1
            %v =w volatile loadsw %p
            %c =w call $g(w %m)
            jnz %m, @loop, @out
            @out
            ret %n
            }",
            |f| dead(f, &Cfg::new(f).rpo),
        );
    }
}
