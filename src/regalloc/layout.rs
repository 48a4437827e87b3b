//! The order of blocks in the output.
//!
//! Blocks that only jump on are forwarded to where they jump. The rest form chains (Pettis and
//! Hansen 1990): the edges from hot to cold join the end of one chain to the start of another, with
//! the edge that costs most if its target does not follow first. A block that ends in a plain jump
//! saves the jump; one with a condition saves a jump only if neither target follows. So a loop
//! that tests at its top gets its header below its body: the way back falls through and the
//! condition closes the loop.

use crate::index::{Index, IndexVec};
use crate::ir::BlockId;
use crate::target::Layout;
use crate::target::machine::{Allocation, MFunction, Step, op};

/// Below this share of the hottest block's frequency in it, a chain is rare and goes last.
const RARE: f32 = 0.02;

pub fn layout(code: &MFunction, allocation: &Allocation) -> Layout {
    let forward = forward(code, allocation);
    let entry = BlockId::new(0);
    let written = |b: BlockId| b == entry || forward[b] == b;
    let mut edges = edges(code, &forward, &written);
    edges.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let mut chains = Chains::new(code.blocks.len());
    for edge in &edges {
        if edge.to != entry {
            chains.join(edge.from, edge.to);
        }
    }
    let order = chains.order(code, &written);
    Layout { order, forward }
}

/// Where jumps to each block end up.
fn forward(code: &MFunction, allocation: &Allocation) -> IndexVec<BlockId, BlockId> {
    let next = |b: BlockId| match allocation.steps[b].as_slice() {
        [Step::Inst(i)] if code.blocks[b].insts[*i as usize].op == op::JUMP => {
            Some(code.blocks[b].succs[0])
        }
        _ => None,
    };
    let mut forward: IndexVec<BlockId, BlockId> = code.blocks.indices().collect();
    let mut known = IndexVec::filled(false, code.blocks.len());
    let mut path = Vec::new();
    for b in code.blocks.indices() {
        let mut end = b;
        while let (false, Some(to)) = (known[end], next(end)) {
            // A ring of empty blocks ends where it was entered.
            known[end] = true;
            path.push(end);
            end = to;
        }
        let target = forward[end];
        for b in path.drain(..) {
            forward[b] = target;
        }
        known[b] = true;
    }
    forward
}

struct Edge {
    from: BlockId,
    to: BlockId,
    weight: f32,
}

/// What a jump taken costs beside a jump that is executed for nothing.
const TAKEN: f32 = 0.25;

/// The edges between written blocks, weighed by what it saves that the target follows: a jump each
/// time, after a block with one successor. With two, one of them must follow or there is a second
/// jump, which the rarer side executes; and the side that follows is not jumped to.
fn edges(
    code: &MFunction,
    forward: &IndexVec<BlockId, BlockId>,
    written: &impl Fn(BlockId) -> bool,
) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (from, block) in code.blocks.enumerate().filter(|(b, _)| written(*b)) {
        // Critical edges are split: with two successors, each runs as often as its edge.
        let rate = |s: BlockId| code.blocks[s].frequency;
        let rarest = block.succs.iter().map(|&s| rate(s)).fold(f32::INFINITY, f32::min);
        for &s in &block.succs {
            let single = block.succs.len() == 1;
            let weight = if single { block.frequency } else { rarest + TAKEN * rate(s) };
            edges.push(Edge { from, to: forward[s], weight });
        }
    }
    edges
}

/// Chains of blocks, by their first and last ones.
struct Chains {
    next: IndexVec<BlockId, Option<BlockId>>,
    has_previous: IndexVec<BlockId, bool>,
    /// Union-find.
    above: IndexVec<BlockId, BlockId>,
}

impl Chains {
    fn new(blocks: usize) -> Chains {
        Chains {
            next: IndexVec::filled(None, blocks),
            has_previous: IndexVec::filled(false, blocks),
            above: (0..blocks).map(BlockId::new).collect(),
        }
    }

    fn root(&mut self, mut b: BlockId) -> BlockId {
        while self.above[b] != b {
            self.above[b] = self.above[self.above[b]];
            b = self.above[b];
        }
        b
    }

    /// Puts `to` right after `from`, if the one ends a chain and the other starts another.
    fn join(&mut self, from: BlockId, to: BlockId) {
        if self.next[from].is_some() || self.has_previous[to] {
            return;
        }
        let (a, b) = (self.root(from), self.root(to));
        if a != b {
            self.next[from] = Some(to);
            self.has_previous[to] = true;
            self.above[b] = a;
        }
    }

    /// The chains one after the other: that of the entry, then by their first block in reverse
    /// postorder, rare ones last.
    fn order(&mut self, code: &MFunction, written: &impl Fn(BlockId) -> bool) -> Vec<BlockId> {
        let mut order = Vec::new();
        let mut head: IndexVec<BlockId, Option<BlockId>> =
            IndexVec::filled(None, code.blocks.len());
        let mut hottest = IndexVec::filled(0.0_f32, code.blocks.len());
        for b in code.blocks.indices().filter(|b| written(*b)) {
            let root = self.root(b);
            hottest[root] = hottest[root].max(code.blocks[b].frequency);
            if !self.has_previous[b] {
                head[root] = Some(b);
            }
        }
        let mut done = IndexVec::filled(false, code.blocks.len());
        for rare in [false, true] {
            for b in code.blocks.indices().filter(|b| written(*b)) {
                let root = self.root(b);
                let is_rare = hottest[root] < RARE && b.index() > 0;
                if done[root] || is_rare && !rare {
                    continue;
                }
                done[root] = true;
                let mut at = head[root];
                while let Some(b) = at {
                    order.push(b);
                    at = self.next[b];
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regalloc::testing::{TOY, shape};
    use crate::regalloc::{Options, allocate};

    /// The layout of a graph given by successors and frequencies, as numbers of blocks.
    fn order(graph: &[(&[usize], f32)]) -> Vec<usize> {
        let code = shape(graph);
        let allocation = allocate(&code, &TOY, &Options::default());
        layout(&code, &allocation).order.iter().map(|b| b.index()).collect()
    }

    #[test]
    fn a_loop_that_tests_at_its_top_is_turned_round() {
        // 0 -> 1: test, to the body 2 or out to 3.
        let graph: [(&[usize], f32); 4] = [(&[1], 1.0), (&[2, 3], 10.0), (&[1], 9.0), (&[], 1.0)];
        assert_eq!(order(&graph), [0, 2, 1, 3]);
    }

    #[test]
    fn rare_blocks_go_last() {
        let graph: [(&[usize], f32); 4] = [(&[1, 2], 1.0), (&[], 0.001), (&[3], 1.0), (&[], 1.0)];
        assert_eq!(order(&graph), [0, 2, 3, 1]);
    }

    #[test]
    fn blocks_that_only_jump_are_forwarded_but_not_for_ever() {
        // 1 and 2 only jump on, 3 and 4 to each other.
        let graph: [(&[usize], f32); 5] =
            [(&[1, 3], 1.0), (&[2], 1.0), (&[3], 1.0), (&[4], 1.0), (&[3], 1.0)];
        let mut code = shape(&graph);
        for b in 1..5 {
            // Take out the store that `shape` puts everywhere.
            code.blocks[BlockId::new(b)].insts.remove(0);
        }
        let allocation = allocate(&code, &TOY, &Options::default());
        let layout = layout(&code, &allocation);
        let to = layout.forward[BlockId::new(1)];
        assert_eq!(to, layout.forward[BlockId::new(4)]);
        assert_eq!(layout.order, [BlockId::new(0), to]);
    }
}
