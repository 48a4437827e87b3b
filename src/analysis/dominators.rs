//! The dominator tree.
//!
//! Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm" (2001), on arrays over reverse
//! postorder. petgraph's `simple_fast` is the same algorithm over a hash map; it is the oracle of
//! the tests here.

use super::cfg::Cfg;
use crate::index::IndexVec;
use crate::ir::BlockId;

/// The dominator tree of the reachable blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dominators {
    /// The immediate dominator; `None` for the entry and for unreachable blocks.
    pub idom: IndexVec<BlockId, Option<BlockId>>,
    /// Numbers of a walk of the tree, before and after a block's subtree.
    pre: IndexVec<BlockId, u32>,
    post: IndexVec<BlockId, u32>,
    /// The reachable blocks in preorder of the tree: a block before all it dominates.
    pub preorder: Vec<BlockId>,
}

impl Dominators {
    pub fn new(cfg: &Cfg) -> Dominators {
        let idom = immediate(cfg);
        let n = cfg.position.len();
        let mut tree = Dominators {
            idom,
            pre: IndexVec::filled(0, n),
            post: IndexVec::filled(0, n),
            preorder: Vec::with_capacity(cfg.rpo.len()),
        };
        tree.number(cfg);
        tree
    }

    /// Whether every path from the entry to `b` goes through `a`. A block dominates itself. Both
    /// must be reachable.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.pre[a] <= self.pre[b] && self.post[b] <= self.post[a]
    }

    /// Whether `a` dominates `b` and is another block.
    pub fn strictly_dominates(&self, a: BlockId, b: BlockId) -> bool {
        a != b && self.dominates(a, b)
    }

    /// The nearest block that dominates both.
    pub fn common(&self, mut a: BlockId, b: BlockId) -> BlockId {
        while !self.dominates(a, b) {
            a = self.idom[a].expect("the entry dominates all");
        }
        a
    }

    fn number(&mut self, cfg: &Cfg) {
        // Children as linked lists, in reverse postorder.
        let mut first: IndexVec<BlockId, Option<BlockId>> =
            IndexVec::filled(None, cfg.position.len());
        let mut next = first.clone();
        for &b in cfg.rpo.iter().rev() {
            if let Some(parent) = self.idom[b] {
                next[b] = first[parent];
                first[parent] = Some(b);
            }
        }
        let Some(&entry) = cfg.rpo.first() else { return };
        let mut clock = 0;
        let mut stack = vec![entry];
        self.pre[entry] = clock;
        self.preorder.push(entry);
        while let Some(&b) = stack.last() {
            clock += 1;
            if let Some(child) = first[b] {
                first[b] = next[child];
                self.pre[child] = clock;
                self.preorder.push(child);
                stack.push(child);
            } else {
                self.post[b] = clock;
                stack.pop();
            }
        }
    }
}

fn immediate(cfg: &Cfg) -> IndexVec<BlockId, Option<BlockId>> {
    const NONE: u32 = u32::MAX;
    // In numbers of reverse postorder, where a dominator is smaller than what it dominates.
    let mut idom = vec![NONE; cfg.rpo.len()];
    if let Some(entry) = idom.first_mut() {
        *entry = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (i, &b) in cfg.rpo.iter().enumerate().skip(1) {
            let mut best = NONE;
            for &p in cfg.preds(b) {
                let p = cfg.position[p];
                if idom[p as usize] == NONE {
                    continue;
                }
                best = if best == NONE { p } else { meet(&idom, p, best) };
            }
            if idom[i] != best {
                idom[i] = best;
                changed = true;
            }
        }
    }
    let mut result = IndexVec::filled(None, cfg.position.len());
    for (i, &b) in cfg.rpo.iter().enumerate().skip(1) {
        result[b] = Some(cfg.rpo[idom[i] as usize]);
    }
    result
}

fn meet(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::Graph;
    use crate::index::Index;
    use crate::ir::{Block, Function, Jump, Module, Ref};

    /// A function of `n` blocks with random jumps.
    fn random_graph(n: usize, seed: &mut u64) -> Function {
        let mut random = |bound: usize| {
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            BlockId::new(1 + *seed as usize % (bound - 1))
        };
        let mut f = Function::new(Module::default().symbols.intern(b"f"));
        for i in 0..n {
            let jump = match i % 5 {
                0 | 1 | 3 => Jump::Jnz(Ref::NONE, random(n), random(n)),
                2 => Jump::Jmp(random(n)),
                _ => Jump::Ret(Ref::NONE),
            };
            f.blocks.push(Block::new(jump));
        }
        f
    }

    #[test]
    fn agrees_with_petgraph() {
        let mut seed = 0x9e37_79b9_7f4a_7c15;
        for round in 0..300 {
            let f = random_graph(2 + round % 40, &mut seed);
            let cfg = Cfg::new(&f);
            let ours = Dominators::new(&cfg);
            let graph = Graph { function: &f, cfg: &cfg };
            let theirs = petgraph::algo::dominators::simple_fast(graph, f.entry());
            for &b in &cfg.rpo {
                assert_eq!(ours.idom[b], theirs.immediate_dominator(b), "block {b:?}");
                for &a in &cfg.rpo {
                    let strict = theirs.strict_dominators(b).is_some_and(|mut d| d.any(|x| x == a));
                    assert_eq!(ours.strictly_dominates(a, b), strict, "{a:?} over {b:?}");
                }
            }
        }
    }
}
