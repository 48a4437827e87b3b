//! The control-flow graph: reverse postorder and predecessors, and the graph as petgraph sees it.

use crate::index::{BitSet, Index, IndexVec};
use crate::ir::{BlockId, Function};
use petgraph::visit::{
    GraphBase, GraphRef, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCount,
    NodeIndexable, VisitMap, Visitable,
};
use smallvec::SmallVec;

/// Order and predecessors of the reachable blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cfg {
    /// The reachable blocks, each before its successors but for back edges; the entry first.
    pub rpo: Vec<BlockId>,
    /// Where each block stands in `rpo`; `UNREACHABLE` if it does not.
    pub position: IndexVec<BlockId, u32>,
    pred_start: IndexVec<BlockId, u32>,
    preds: Vec<BlockId>,
}

impl Cfg {
    pub const UNREACHABLE: u32 = u32::MAX;

    pub fn new(f: &Function) -> Cfg {
        let rpo = reverse_postorder(f);
        let n = f.blocks.len();
        let mut position = IndexVec::filled(Cfg::UNREACHABLE, n);
        for (i, &b) in rpo.iter().enumerate() {
            position[b] = i as u32;
        }
        let (pred_start, preds) = predecessors(f, &rpo);
        Cfg { rpo, position, pred_start, preds }
    }

    /// The reachable predecessors of `b`, each once, in reverse postorder.
    pub fn preds(&self, b: BlockId) -> &[BlockId] {
        let start = self.pred_start[b] as usize;
        let end = self.pred_start.get(BlockId::new(b.index() + 1)).map(|&e| e as usize);
        &self.preds[start..end.unwrap_or(self.preds.len())]
    }

    pub fn is_reachable(&self, b: BlockId) -> bool {
        self.position[b] != Cfg::UNREACHABLE
    }

    /// The successors of `b`, each once.
    pub fn succs(f: &Function, b: BlockId) -> SmallVec<[BlockId; 2]> {
        let mut succs = f.blocks[b].jump.successors();
        succs.dedup();
        succs
    }
}

fn reverse_postorder(f: &Function) -> Vec<BlockId> {
    let mut seen = BitSet::new(f.blocks.len());
    let mut order = Vec::with_capacity(f.blocks.len());
    if f.blocks.is_empty() {
        return order;
    }
    seen.insert(f.entry());
    // A block and how many of its successors, from the last, are left to visit: visiting the
    // last first puts the first right behind its block in the result.
    let succs = f.blocks[f.entry()].jump.successors();
    let mut stack = vec![(f.entry(), succs)];
    while let Some((b, left)) = stack.last_mut() {
        match left.pop() {
            Some(s) => {
                if seen.insert(s) {
                    stack.push((s, f.blocks[s].jump.successors()));
                }
            }
            None => {
                order.push(*b);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

fn predecessors(f: &Function, rpo: &[BlockId]) -> (IndexVec<BlockId, u32>, Vec<BlockId>) {
    let mut start = IndexVec::filled(0u32, f.blocks.len());
    for &b in rpo {
        for s in Cfg::succs(f, b) {
            start[s] += 1;
        }
    }
    let mut total = 0;
    for count in start.iter_mut() {
        total += *count;
        *count = total;
    }
    // Filled from the end of each range, so that `start` ends up at its beginning.
    let mut preds = vec![BlockId::new(0); total as usize];
    for &b in rpo.iter().rev() {
        for s in Cfg::succs(f, b) {
            start[s] -= 1;
            preds[start[s] as usize] = b;
        }
    }
    (start, preds)
}

/// A function and its [`Cfg`] as a graph of petgraph: nodes are blocks, edges are jumps.
#[derive(Copy, Clone)]
pub struct Graph<'a> {
    pub function: &'a Function,
    pub cfg: &'a Cfg,
}

impl GraphBase for Graph<'_> {
    type NodeId = BlockId;
    type EdgeId = (BlockId, BlockId);
}

impl GraphRef for Graph<'_> {}

impl IntoNeighbors for Graph<'_> {
    type Neighbors = smallvec::IntoIter<[BlockId; 2]>;
    fn neighbors(self, b: BlockId) -> Self::Neighbors {
        Cfg::succs(self.function, b).into_iter()
    }
}

impl<'a> IntoNeighborsDirected for Graph<'a> {
    type NeighborsDirected = smallvec::IntoIter<[BlockId; 2]>;
    fn neighbors_directed(
        self,
        b: BlockId,
        direction: petgraph::Direction,
    ) -> Self::NeighborsDirected {
        match direction {
            petgraph::Direction::Outgoing => self.neighbors(b),
            petgraph::Direction::Incoming => SmallVec::from_slice(self.cfg.preds(b)).into_iter(),
        }
    }
}

impl IntoNodeIdentifiers for Graph<'_> {
    type NodeIdentifiers = std::vec::IntoIter<BlockId>;
    fn node_identifiers(self) -> Self::NodeIdentifiers {
        self.cfg.rpo.clone().into_iter()
    }
}

impl NodeCount for Graph<'_> {
    fn node_count(&self) -> usize {
        self.cfg.rpo.len()
    }
}

impl NodeIndexable for Graph<'_> {
    fn node_bound(&self) -> usize {
        self.function.blocks.len()
    }
    fn to_index(&self, b: BlockId) -> usize {
        b.index()
    }
    fn from_index(&self, i: usize) -> BlockId {
        BlockId::new(i)
    }
}

/// The blocks that a walk has seen.
pub struct Visited(BitSet<BlockId>);

impl VisitMap<BlockId> for Visited {
    fn visit(&mut self, b: BlockId) -> bool {
        self.0.insert(b)
    }
    fn is_visited(&self, b: &BlockId) -> bool {
        self.0.contains(*b)
    }
    fn unvisit(&mut self, b: BlockId) -> bool {
        self.0.remove(b)
    }
}

impl Visitable for Graph<'_> {
    type Map = Visited;
    fn visit_map(&self) -> Self::Map {
        Visited(BitSet::new(self.function.blocks.len()))
    }
    fn reset_map(&self, map: &mut Self::Map) {
        map.0.clear();
    }
}
