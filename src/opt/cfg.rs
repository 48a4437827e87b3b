//! Control-flow cleanup: decided branches, jumps to jumps, straight lines, unreachable blocks.
//!
//! In rounds until nothing changes: branches on constants, on the negation of a value or to one
//! block; branches on a phi of constants, decided in the predecessor; blocks that only jump, left
//! out of the way; blocks whose one predecessor only jumps to them, joined to it. Phis with one
//! predecessor become copies. In the end blocks are numbered in reverse postorder, and those that
//! cannot be reached are gone.
//!
//! A jump-only block in front of phis stays: it is where the moves of that edge go.
//!
//! Needs SSA form and the CFG. Breaks everything.

use super::Env;
use crate::analysis::Facts;
use crate::analysis::cfg::Cfg;
use crate::index::{BitSet, Index, IndexVec};
use crate::ir::{Block, BlockId, Function, Inst, Jump, Op, Ref, TempId};

/// Cleans up `f`; true if anything changed.
pub fn run(f: &mut Function, facts: &Facts, _env: &Env<'_>) -> bool {
    clean(f, &facts.cfg)
}

/// Rounds before what is left is left.
const MAX_ROUNDS: usize = 8;

/// Cleans up `f`, whose graph is `cfg`.
pub fn clean(f: &mut Function, cfg: &Cfg) -> bool {
    let steps: [fn(&mut Function, &Cfg) -> bool; 4] =
        [decide_branches, decide_in_predecessors, skip_empty, join_lines];
    if cfg.rpo.len() < f.blocks.len() {
        drop_stale_arguments(f, cfg);
    }
    let mut fresh: Option<Cfg> = None;
    // The step that changed something last, counted over rounds.
    let mut last = 0;
    for (n, step) in steps.iter().cycle().take(steps.len() * MAX_ROUNDS).enumerate() {
        if n >= last + steps.len() {
            break;
        }
        if step(f, fresh.as_ref().unwrap_or(cfg)) {
            last = n;
            let cfg = Cfg::new(f);
            drop_stale_arguments(f, &cfg);
            fresh = Some(cfg);
        }
    }
    let cfg = fresh.as_ref().unwrap_or(cfg);
    let ordered =
        cfg.rpo.len() == f.blocks.len() && cfg.rpo.iter().enumerate().all(|(i, b)| b.index() == i);
    if !ordered {
        renumber(f, cfg);
    }
    fresh.is_some() || !ordered
}

/// Keeps of each phi the arguments of predecessors.
fn drop_stale_arguments(f: &mut Function, cfg: &Cfg) {
    let mut pred_of = IndexVec::filled(None, f.blocks.len());
    for &b in &cfg.rpo {
        let block = &mut f.blocks[b];
        if block.phis.is_empty() {
            continue;
        }
        for &p in cfg.preds(b) {
            pred_of[p] = Some(b);
        }
        for phi in &mut block.phis {
            phi.args.retain(|&mut (from, _)| pred_of[from] == Some(b));
        }
    }
}

/// Puts the reachable blocks in reverse postorder and drops the others.
fn renumber(f: &mut Function, cfg: &Cfg) {
    let new = |b: BlockId| BlockId::new(cfg.position[b] as usize);
    let mut old: Vec<Option<Block>> =
        std::mem::take(&mut f.blocks).into_vec().into_iter().map(Some).collect();
    for &b in &cfg.rpo {
        let mut block = old[b.index()].take().expect("each block is there once");
        for phi in &mut block.phis {
            phi.args.retain(|&mut (from, _)| cfg.is_reachable(from));
            phi.args.iter_mut().for_each(|(from, _)| *from = new(*from));
        }
        block.jump.for_each_target(|target| *target = new(*target));
        f.blocks.push(block);
    }
}

/// What a branch tests, seen through instructions that keep or turn round whether it is 0.
fn decide_branches(f: &mut Function, cfg: &Cfg) -> bool {
    let conditions = Conditions::new(f, cfg);
    let mut changed = false;
    for &b in &cfg.rpo {
        let Jump::Jnz(r, s, t) = f.blocks[b].jump else { continue };
        let (r, negated) = conditions.origin(f, r);
        let (s, t) = if negated { (t, s) } else { (s, t) };
        let jump = match f.bits(r) {
            Some(bits) => Jump::Jmp(if bits as u32 != 0 { s } else { t }),
            None if s == t => Jump::Jmp(s),
            None => Jump::Jnz(r, s, t),
        };
        changed |= jump != f.blocks[b].jump;
        f.blocks[b].jump = jump;
    }
    changed
}

/// The instructions that define temporaries that are branched on or lead to those.
struct Conditions {
    insts: IndexVec<TempId, Option<(BlockId, u32)>>,
}

impl Conditions {
    fn new(f: &Function, cfg: &Cfg) -> Conditions {
        let mut insts = IndexVec::filled(None, f.temps.len());
        for &b in &cfg.rpo {
            for (i, inst) in f.blocks[b].insts.iter().enumerate() {
                if let Some(to) = inst.to {
                    insts[to] = Some((b, i as u32));
                }
            }
        }
        Conditions { insts }
    }

    fn inst<'a>(&self, f: &'a Function, r: Ref) -> Option<&'a Inst> {
        let (b, i) = self.insts[r.as_temp()?]?;
        Some(&f.blocks[b].insts[i as usize])
    }

    /// A value whose low 32 bits are 0 exactly when those of `r` are, or (true) exactly when they
    /// are not.
    fn origin(&self, f: &Function, mut r: Ref) -> (Ref, bool) {
        let mut negated = false;
        while let Some(inst) = self.inst(f, r) {
            let [x, y, _] = inst.args;
            let zero = |r| f.bits(r).is_some_and(|bits| bits as u32 == 0);
            match inst.op {
                Op::Copy | Op::Extsw | Op::Extuw if inst.class.is_int() => r = x,
                Op::Extsb | Op::Extub | Op::Extsh | Op::Extuh if self.is_flag(f, x) => r = x,
                Op::Cnew if zero(y) => r = x,
                Op::Ceqw if zero(y) => (r, negated) = (x, !negated),
                Op::Cnew if zero(x) => r = y,
                Op::Ceqw if zero(x) => (r, negated) = (y, !negated),
                Op::Xor if f.bits(y) == Some(1) && self.is_flag(f, x) => {
                    (r, negated) = (x, !negated);
                }
                _ => break,
            }
        }
        (r, negated)
    }

    /// Whether `r` is 0 or 1.
    fn is_flag(&self, f: &Function, r: Ref) -> bool {
        self.inst(f, r).is_some_and(|inst| inst.op.comparison().is_some())
    }
}

/// The most predecessors of a block with phis that new edges may be led to.
const MAX_JOIN: usize = 64;

/// Sends a predecessor that brings a constant to a phi, which its block does nothing with but
/// branch, straight to where the branch goes.
fn decide_in_predecessors(f: &mut Function, cfg: &Cfg) -> bool {
    let tests_own_phi = |block: &Block| match (&block.phis[..], block.jump) {
        ([phi], Jump::Jnz(r, _, _)) => {
            r == phi.to.into() && phi.args.iter().any(|&(_, r)| f.bits(r).is_some())
        }
        _ => false,
    };
    let candidates: Vec<BlockId> =
        cfg.rpo.iter().copied().filter(|&b| tests_own_phi(&f.blocks[b])).collect();
    if candidates.is_empty() {
        return false;
    }
    let mut uses = count_uses(f, cfg);
    let mut changed = false;
    for b in candidates {
        // The header of a loop would become one of two entries.
        let loops = cfg.preds(b).iter().any(|&p| cfg.position[p] >= cfg.position[b]);
        if !loops && uses[f.blocks[b].phis[0].to] == 1 {
            drop_unused(f, b, &mut uses);
            if f.blocks[b].insts.is_empty() {
                changed |= redirect_constants(f, cfg, b);
            }
        }
    }
    changed
}

fn count_uses(f: &Function, cfg: &Cfg) -> IndexVec<TempId, u32> {
    let mut uses = IndexVec::filled(0u32, f.temps.len());
    let mut count = |r: Ref| {
        if let Some(t) = r.as_temp() {
            uses[t] += 1;
        }
    };
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        block.phis.iter().flat_map(|phi| &phi.args).for_each(|&(_, r)| count(r));
        block.insts.iter().for_each(|inst| f.for_each_use(inst, &mut count));
        count(block.jump.arg());
    }
    uses
}

/// Drops pure instructions of `b` that nothing reads, as seeing through conditions leaves them.
fn drop_unused(f: &mut Function, b: BlockId, uses: &mut IndexVec<TempId, u32>) {
    let mut insts = std::mem::take(&mut f.blocks[b].insts);
    for inst in insts.iter_mut().rev() {
        if inst.op.is_pure() && inst.to.is_some_and(|t| uses[t] == 0) {
            f.for_each_use(inst, |r| {
                if let Some(t) = r.as_temp() {
                    uses[t] -= 1;
                }
            });
            *inst = Inst::nop();
        }
    }
    insts.retain(|inst| inst.op != Op::Nop);
    f.blocks[b].insts = insts;
}

/// Redirects the predecessors of `b` that bring constants to its one phi, which it branches on.
fn redirect_constants(f: &mut Function, cfg: &Cfg, b: BlockId) -> bool {
    let Jump::Jnz(_, on_true, on_false) = f.blocks[b].jump else { return false };
    let args = f.blocks[b].phis[0].args.clone();
    let mut changed = false;
    for (target, wanted) in [(on_true, true), (on_false, false)] {
        if target == b || (!f.blocks[target].phis.is_empty() && cfg.preds(target).len() > MAX_JOIN)
        {
            continue;
        }
        let brings = |r: Ref| f.bits(r).is_some_and(|bits| (bits as u32 != 0) == wanted);
        let movers: Vec<BlockId> = args
            .iter()
            .filter(|&&(from, r)| {
                let jump = f.blocks[from].jump;
                brings(r) && jump.successors().contains(&b) && !jump.successors().contains(&target)
            })
            .map(|&(from, _)| from)
            .collect();
        for phi in &mut f.blocks[target].phis {
            let Some(value) = phi.arg(b) else { continue };
            phi.args.extend(movers.iter().map(|&from| (from, value)));
        }
        for &from in &movers {
            f.blocks[from].jump.for_each_target(|t| {
                if *t == b {
                    *t = target;
                }
            });
        }
        changed |= !movers.is_empty();
    }
    changed
}

/// Leads jumps past blocks that only jump to a block without phis.
fn skip_empty(f: &mut Function, cfg: &Cfg) -> bool {
    let mut forward: IndexVec<BlockId, BlockId> = f.blocks.indices().collect();
    let mut any = false;
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        let empty = block.phis.is_empty() && block.insts.iter().all(|inst| inst.op == Op::Nop);
        if let Jump::Jmp(s) = block.jump
            && empty
            && s != b
            && b != f.entry()
            && f.blocks[s].phis.is_empty()
        {
            forward[b] = s;
            any = true;
        }
    }
    if !any {
        return false;
    }
    shorten(&mut forward);
    let mut changed = false;
    for &b in &cfg.rpo {
        f.blocks[b].jump.for_each_target(|target| {
            changed |= forward[*target] != *target;
            *target = forward[*target];
        });
    }
    changed
}

/// Makes every entry the end of its chain. Blocks that only jump round in a circle stay.
fn shorten(forward: &mut IndexVec<BlockId, BlockId>) {
    let mut done = BitSet::new(forward.len());
    let mut on_path = BitSet::new(forward.len());
    let mut path = Vec::new();
    for start in forward.indices() {
        let mut b = start;
        while forward[b] != b && !done.contains(b) && on_path.insert(b) {
            path.push(b);
            b = forward[b];
        }
        let end = if done.contains(b) { forward[b] } else { b };
        // A block met again on this path closes a circle: it is left alone, and the others lead
        // to it.
        for p in path.drain(..) {
            on_path.remove(p);
            done.insert(p);
            forward[p] = end;
        }
    }
}

/// Joins a block to the one predecessor that only jumps to it. Where a block has one predecessor
/// its phis become copies.
fn join_lines(f: &mut Function, cfg: &Cfg) -> bool {
    let mut joined_to: IndexVec<BlockId, BlockId> = f.blocks.indices().collect();
    let mut any = false;
    let mut changed = false;
    for &b in &cfg.rpo {
        if cfg.preds(b).len() == 1 {
            changed |= phis_to_copies(&mut f.blocks[b]);
        }
        if joined_to[b] != b {
            continue;
        }
        while let Jump::Jmp(s) = f.blocks[b].jump
            && s != b
            && cfg.preds(s).len() == 1
        {
            phis_to_copies(&mut f.blocks[s]);
            let insts = std::mem::take(&mut f.blocks[s].insts);
            let jump = std::mem::replace(&mut f.blocks[s].jump, Jump::Hlt);
            let block = &mut f.blocks[b];
            if block.insts.is_empty() {
                block.insts = insts;
            } else {
                block.insts.extend(insts);
            }
            block.jump = jump;
            joined_to[s] = b;
            any = true;
        }
    }
    if any {
        let args = f.blocks.iter_mut().flat_map(|block| &mut block.phis).flat_map(|p| &mut p.args);
        args.for_each(|(from, _)| *from = joined_to[*from]);
    }
    changed || any
}

/// The phis of a block with one predecessor as copies. They read nothing that they define: the
/// predecessor is above.
fn phis_to_copies(block: &mut Block) -> bool {
    if block.phis.is_empty() {
        return false;
    }
    let phis = std::mem::take(&mut block.phis);
    let copies = phis.iter().map(|phi| Inst::new(Op::Copy, phi.class, phi.to, &[phi.args[0].1]));
    block.insts.splice(0..0, copies);
    true
}
