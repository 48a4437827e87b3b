//! Natural loops, their nesting, and irreducible regions.

use super::cfg::Cfg;
use super::dominators::Dominators;
use crate::index::{BitSet, IndexVec, index_types};
use crate::ir::{BlockId, Function};

index_types! {
    /// A natural loop of a function.
    LoopId = "loop";
}

/// A natural loop: all back edges to one header taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Dominates every block of the loop.
    pub header: BlockId,
    /// The blocks that jump back to the header, in reverse postorder.
    pub latches: Vec<BlockId>,
    /// The loop directly around it.
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

/// The loops of a function: outer ones before inner ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loops {
    pub loops: IndexVec<LoopId, Loop>,
    /// The innermost loop of each block.
    pub innermost: IndexVec<BlockId, Option<LoopId>>,
    /// Blocks that a retreating edge enters without dominating its source: entries of regions that
    /// are no natural loops. Empty in a reducible function.
    pub irreducible: Vec<BlockId>,
}

impl Loops {
    pub fn new(f: &Function, cfg: &Cfg, dominators: &Dominators) -> Loops {
        let mut found = Loops {
            loops: IndexVec::new(),
            innermost: IndexVec::filled(None, f.blocks.len()),
            irreducible: Vec::new(),
        };
        let mut headers = Vec::new();
        for &b in &cfg.rpo {
            let position = cfg.position[b];
            let retreating =
                || cfg.preds(b).iter().copied().filter(|&p| cfg.position[p] >= position);
            if retreating().any(|p| !dominators.dominates(b, p)) {
                found.irreducible.push(b);
            }
            let latches: Vec<BlockId> =
                retreating().filter(|&p| dominators.dominates(b, p)).collect();
            if !latches.is_empty() {
                headers.push((b, latches));
            }
        }
        found.collect(cfg, headers);
        found
    }

    /// Walks predecessors from the latches, inner loops first; a block already in a loop stands for
    /// that whole loop, so every block is walked once a loop level at most.
    fn collect(&mut self, cfg: &Cfg, headers: Vec<(BlockId, Vec<BlockId>)>) {
        for (header, latches) in &headers {
            self.loops.push(Loop {
                header: *header,
                latches: latches.clone(),
                parent: None,
                depth: 0,
            });
        }
        let mut outermost: IndexVec<LoopId, LoopId> = self.loops.indices().collect();
        let mut seen: BitSet<BlockId> = BitSet::new(cfg.position.len());
        for id in self.loops.indices().rev() {
            let header = self.loops[id].header;
            let mut work = self.loops[id].latches.clone();
            let mut walked = vec![header];
            seen.insert(header);
            // A header whose block was reached from an inner loop's walk cannot be: an inner loop's
            // header comes later in reverse postorder.
            self.innermost[header].get_or_insert(id);
            while let Some(b) = work.pop() {
                let entry = match self.innermost[b] {
                    Some(inner) if b != header => {
                        let top = find(&mut outermost, inner);
                        if top == id {
                            continue;
                        }
                        self.loops[top].parent = Some(id);
                        outermost[top] = id;
                        self.loops[top].header
                    }
                    _ => b,
                };
                if !seen.insert(entry) {
                    continue;
                }
                walked.push(entry);
                self.innermost[entry].get_or_insert(id);
                work.extend_from_slice(cfg.preds(entry));
            }
            walked.into_iter().for_each(|b| {
                seen.remove(b);
            });
        }
        for id in self.loops.indices() {
            self.loops[id].depth = 1 + self.loops[id].parent.map_or(0, |p| self.loops[p].depth);
        }
    }

    /// How many loops the block is in.
    pub fn depth(&self, b: BlockId) -> u32 {
        self.innermost[b].map_or(0, |l| self.loops[l].depth)
    }

    /// Whether block `b` is in loop `l`.
    pub fn contains(&self, l: LoopId, b: BlockId) -> bool {
        let mut at = self.innermost[b];
        while let Some(inner) = at {
            if inner == l {
                return true;
            }
            at = self.loops[inner].parent;
        }
        false
    }
}

/// The outermost loop known so far around `l`, with path halving.
fn find(outermost: &mut IndexVec<LoopId, LoopId>, mut l: LoopId) -> LoopId {
    while outermost[l] != l {
        let up = outermost[outermost[l]];
        outermost[l] = up;
        l = up;
    }
    l
}
