//! SSA construction: where phis go, and what value each read sees. Shared by `ssa`, which builds SSA
//! form for temporaries, and `promote`, which builds it for slots.
//!
//! Phis are placed on the iterated dominance frontier of the blocks that define a variable, found by
//! walking dominator subtrees upwards from the deepest (Sreedhar and Gao, "A Linear Time Algorithm for
//! Placing phi-Nodes", 1995), and only where the variable is live. Subtrees without an edge that leaves
//! them far enough are skipped, so a definition near the entry costs nothing. Renaming is the usual walk
//! of the dominator tree (Cytron et al., 1991) with a log of what to undo.

use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::index::{Index, IndexVec};
use crate::ir::{BlockId, Class, Function, NameId, Phi, Ref, Temp, TempId};
use smallvec::SmallVec;
use std::collections::BinaryHeap;

/// The number of a variable.
pub type Variable = u32;

/// Which blocks define variables, and which read them before they define them.
pub struct Accesses {
    defs: Vec<(Variable, BlockId)>,
    reads: Vec<(Variable, BlockId)>,
    last_def: Vec<Option<BlockId>>,
    last_read: Vec<Option<BlockId>>,
}

impl Accesses {
    pub fn new(variables: usize) -> Accesses {
        Accesses {
            defs: Vec::new(),
            reads: Vec::new(),
            last_def: vec![None; variables],
            last_read: vec![None; variables],
        }
    }

    /// The next access in `b` defines `v`. Blocks come one after the other.
    pub fn def(&mut self, v: Variable, b: BlockId) {
        if self.last_def[v as usize] != Some(b) {
            self.last_def[v as usize] = Some(b);
            self.defs.push((v, b));
        }
    }

    /// The next access in `b` reads `v`.
    pub fn read(&mut self, v: Variable, b: BlockId) {
        if self.last_def[v as usize] != Some(b) {
            self.read_on_entry(v, b);
        }
    }

    /// `b` reads `v`; only what flows into the block is meant. In any order.
    pub fn read_on_entry(&mut self, v: Variable, b: BlockId) {
        if self.last_read[v as usize] != Some(b) {
            self.last_read[v as usize] = Some(b);
            self.reads.push((v, b));
        }
    }
}

/// A phi to be made.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Placed {
    block: BlockId,
    variable: Variable,
}

/// The phis that variables need.
pub struct Placement {
    /// In order of blocks, then variables.
    phis: Vec<Placed>,
    /// Variables whose phis would have gone over the budget. They have none.
    pub declined: Vec<bool>,
}

/// Decides where `accesses` need phis. Variables that would take the number of phi arguments or the
/// steps of the search over `budget` are declined, in order.
pub fn place(
    f: &Function,
    cfg: &Cfg,
    dominators: &Dominators,
    accesses: &Accesses,
    budget: usize,
) -> Placement {
    let variables = accesses.last_def.len();
    let defs = grouped(&accesses.defs, variables);
    let reads = grouped(&accesses.reads, variables);
    let mut placement = Placement { phis: Vec::new(), declined: vec![false; variables] };
    let mut search: Option<Search<'_>> = None;
    let mut left = budget;
    for v in 0..variables {
        let (defs, reads) = (group(&defs, v), group(&reads, v));
        let single = |d: BlockId| reads.iter().all(|&r| dominators.strictly_dominates(d, r));
        match *defs {
            _ if reads.is_empty() => continue,
            [] => continue,
            [d] if single(d) => continue,
            _ => {}
        }
        let search = search.get_or_insert_with(|| Search::new(f, cfg, dominators));
        let before = placement.phis.len();
        match search.run(v as Variable, defs, reads, left, &mut placement.phis) {
            Some(cost) => left -= cost,
            None => {
                placement.phis.truncate(before);
                placement.declined[v] = true;
            }
        }
    }
    placement.phis.sort_unstable();
    placement
}

/// Pairs sorted by variable: where each variable's blocks start, and all blocks.
type Grouped = (Vec<u32>, Vec<BlockId>);

fn grouped(pairs: &[(Variable, BlockId)], variables: usize) -> Grouped {
    let mut start = vec![0u32; variables + 1];
    for &(v, _) in pairs {
        start[v as usize] += 1;
    }
    let mut total = 0;
    for count in &mut start {
        total += *count;
        *count = total;
    }
    let mut blocks = Vec::new();
    if let Some(&(_, any)) = pairs.first() {
        blocks.resize(pairs.len(), any);
    }
    for &(v, b) in pairs.iter().rev() {
        start[v as usize] -= 1;
        blocks[start[v as usize] as usize] = b;
    }
    (start, blocks)
}

fn group(grouped: &Grouped, v: usize) -> &[BlockId] {
    &grouped.1[grouped.0[v] as usize..grouped.0[v + 1] as usize]
}

/// The tables of the phi search. Those of one variable are stamped with its number plus one.
struct Search<'a> {
    f: &'a Function,
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    /// Depth in the dominator tree.
    level: IndexVec<BlockId, u32>,
    /// By place in the preorder of the tree: the size of the subtree, and the least level that an
    /// edge from it goes to, other than tree edges.
    size: Vec<u32>,
    low: Vec<u32>,
    place: IndexVec<BlockId, u32>,
    defined: IndexVec<BlockId, u32>,
    live: IndexVec<BlockId, u32>,
    reached: IndexVec<BlockId, u32>,
    /// By place in preorder.
    walked: Vec<u32>,
    work: Vec<BlockId>,
    heap: BinaryHeap<(u32, BlockId)>,
}

impl<'a> Search<'a> {
    fn new(f: &'a Function, cfg: &'a Cfg, dominators: &'a Dominators) -> Search<'a> {
        let n = f.blocks.len();
        let order = &dominators.preorder;
        let mut search = Search {
            f,
            cfg,
            dominators,
            level: IndexVec::filled(0, n),
            size: vec![1; order.len()],
            low: vec![u32::MAX; order.len()],
            place: IndexVec::filled(0, n),
            defined: IndexVec::filled(0, n),
            live: IndexVec::filled(0, n),
            reached: IndexVec::filled(0, n),
            walked: vec![0; order.len()],
            work: Vec::new(),
            heap: BinaryHeap::new(),
        };
        for (i, &b) in order.iter().enumerate() {
            search.place[b] = i as u32;
            search.level[b] = dominators.idom[b].map_or(0, |d| search.level[d] + 1);
        }
        for (i, &b) in order.iter().enumerate().rev() {
            for s in Cfg::succs(f, b) {
                if dominators.idom[s] != Some(b) {
                    search.low[i] = search.low[i].min(search.level[s]);
                }
            }
            if let Some(d) = dominators.idom[b] {
                let parent = search.place[d] as usize;
                search.size[parent] += search.size[i];
                search.low[parent] = search.low[parent].min(search.low[i]);
            }
        }
        search
    }

    /// Appends the phis of one variable; the cost in arguments and steps, or `None` if over `budget`.
    fn run(
        &mut self,
        v: Variable,
        defs: &[BlockId],
        reads: &[BlockId],
        budget: usize,
        phis: &mut Vec<Placed>,
    ) -> Option<usize> {
        let stamp = v + 1;
        for &b in defs {
            self.defined[b] = stamp;
        }
        let mut cost = self.mark_live(stamp, reads, budget)?;
        self.heap.extend(defs.iter().map(|&b| (self.level[b], b)));
        while let Some((level, root)) = self.heap.pop() {
            let mut at = self.place[root] as usize;
            let end = at + self.size[at] as usize;
            while at < end {
                if self.walked[at] == stamp || self.low[at] > level {
                    at += self.size[at] as usize;
                    continue;
                }
                self.walked[at] = stamp;
                cost += 1;
                for s in Cfg::succs(self.f, self.dominators.preorder[at]) {
                    let outside = self.level[s] <= level && self.live[s] == stamp;
                    if outside
                        && self.reached[s] != stamp
                        && self.dominators.idom[s] != Some(self.dominators.preorder[at])
                    {
                        self.reached[s] = stamp;
                        phis.push(Placed { block: s, variable: v });
                        cost += self.cfg.preds(s).len();
                        if self.defined[s] != stamp {
                            self.heap.push((self.level[s], s));
                        }
                    }
                }
                if cost > budget {
                    self.heap.clear();
                    return None;
                }
                at += 1;
            }
        }
        Some(cost)
    }

    /// Marks the blocks that the variable is live into.
    fn mark_live(&mut self, stamp: u32, reads: &[BlockId], budget: usize) -> Option<usize> {
        let mut steps = 0;
        self.work.extend_from_slice(reads);
        while let Some(b) = self.work.pop() {
            if self.live[b] == stamp {
                continue;
            }
            self.live[b] = stamp;
            for &p in self.cfg.preds(b) {
                steps += 1;
                if self.defined[p] != stamp && self.live[p] != stamp {
                    self.work.push(p);
                }
            }
            if steps > budget {
                self.work.clear();
                return None;
            }
        }
        Some(steps)
    }
}

/// The values of variables at a point of the walk.
pub struct Values {
    now: Vec<Ref>,
    log: Vec<(Variable, Ref)>,
}

impl Values {
    #[inline]
    pub fn get(&self, v: Variable) -> Ref {
        self.now[v as usize]
    }

    #[inline]
    pub fn set(&mut self, v: Variable, value: Ref) {
        let old = std::mem::replace(&mut self.now[v as usize], value);
        self.log.push((v, old));
    }
}

/// Makes the phis of `placement` and walks the blocks, each after its dominators. `rewrite` sees
/// every reachable block once, with the values on entry, and leaves those at its end. `kinds` has
/// class and name of each variable; `undefined` is what one has before it is defined.
pub fn rename(
    f: &mut Function,
    cfg: &Cfg,
    dominators: &Dominators,
    placement: &Placement,
    kinds: &[(Class, Option<NameId>)],
    mut rewrite: impl FnMut(&mut Function, BlockId, &mut Values),
) {
    let undefined = Ref::ZERO;
    let phis = &placement.phis;
    let mut results: Vec<TempId> = Vec::with_capacity(phis.len());
    let mut first_arg: Vec<u32> = Vec::with_capacity(phis.len());
    // For each block, its first phi.
    let mut first = IndexVec::filled(0u32, if phis.is_empty() { 0 } else { f.blocks.len() + 1 });
    let mut total = 0;
    for phi in phis {
        let (class, name) = kinds[phi.variable as usize];
        results.push(f.temps.push(Temp { class, name }));
        first_arg.push(total);
        total += cfg.preds(phi.block).len() as u32;
    }
    let mut next = phis.len();
    for b in first.indices().rev() {
        while next > 0 && phis[next - 1].block >= b {
            next -= 1;
        }
        first[b] = next as u32;
    }
    let range = |b: BlockId| match first.is_empty() {
        true => 0..0,
        false => first[b] as usize..first[BlockId::new(b.index() + 1)] as usize,
    };
    let mut args = vec![undefined; total as usize];
    let mut values = Values { now: vec![undefined; kinds.len()], log: Vec::new() };
    let mut open: Vec<(BlockId, usize)> = Vec::new();
    for &b in &dominators.preorder {
        while let Some(&(top, mark)) = open.last() {
            if dominators.dominates(top, b) {
                break;
            }
            for (v, old) in values.log.drain(mark..).rev() {
                values.now[v as usize] = old;
            }
            open.pop();
        }
        open.push((b, values.log.len()));
        for i in range(b) {
            values.set(phis[i].variable, results[i].into());
        }
        rewrite(f, b, &mut values);
        for s in Cfg::succs(f, b) {
            let here = range(s);
            if here.is_empty() {
                continue;
            }
            let row = cfg.preds(s).partition_point(|&p| cfg.position[p] < cfg.position[b]);
            for i in here {
                args[first_arg[i] as usize + row] = values.get(phis[i].variable);
            }
        }
    }
    for (i, phi) in phis.iter().enumerate() {
        let preds = cfg.preds(phi.block);
        let start = first_arg[i] as usize;
        let rows: SmallVec<[(BlockId, Ref); 2]> =
            preds.iter().copied().zip(args[start..].iter().copied()).collect();
        let class = kinds[phi.variable as usize].0;
        f.blocks[phi.block].phis.push(Phi { to: results[i], class, args: rows });
    }
}
