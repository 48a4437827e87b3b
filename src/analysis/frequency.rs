//! How often each block runs, estimated from the shape of the graph alone.
//!
//! A loop is taken to run [`ITERATIONS`] times; its exits share one part in that many. A branch to a
//! block that traps is hardly ever taken. Other branches go either way. Ball and Larus, "Branch
//! Prediction for Free" (1993), have the loop heuristic at 88% right.

use super::cfg::Cfg;
use super::loops::Loops;
use crate::index::IndexVec;
use crate::ir::{BlockId, Function, Jump};

/// Times a loop is taken to run each time it is entered.
pub const ITERATIONS: f32 = 8.0;
/// Deeper nests are all the same to a reader of frequencies; the bound keeps the numbers finite.
const LIMIT: f32 = 1e12;
const RARE: f32 = 1.0 / 64.0;

/// Estimated runs of each block when the function is called once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frequency {
    blocks: IndexVec<BlockId, f32>,
}

impl Frequency {
    pub fn new(f: &Function, cfg: &Cfg, loops: &Loops) -> Frequency {
        let mut blocks = IndexVec::filled(0.0f32, f.blocks.len());
        for &b in &cfg.rpo {
            if b == f.entry() {
                blocks[b] = 1.0;
            }
            let innermost = loops.innermost[b];
            if innermost.is_some_and(|l| loops.loops[l].header == b) {
                blocks[b] *= ITERATIONS;
            }
            blocks[b] = blocks[b].clamp(f32::MIN_POSITIVE, LIMIT);
            let here = blocks[b];
            let succs = Cfg::succs(f, b);
            let weights: Vec<f32> = succs.iter().map(|&s| weight(f, loops, b, s)).collect();
            let total: f32 = weights.iter().sum();
            for (&s, w) in succs.iter().zip(&weights) {
                // A retreating edge is paid for at the header.
                if cfg.position[s] > cfg.position[b] {
                    blocks[s] += here * w / total;
                }
            }
        }
        Frequency { blocks }
    }

    pub fn of(&self, b: BlockId) -> f32 {
        self.blocks[b]
    }

    /// Estimated runs of the edge.
    pub fn of_edge(&self, f: &Function, loops: &Loops, from: BlockId, to: BlockId) -> f32 {
        let total: f32 = Cfg::succs(f, from).iter().map(|&s| weight(f, loops, from, s)).sum();
        self.blocks[from] * weight(f, loops, from, to) / total
    }
}

/// The relative likelihood of the edge.
fn weight(f: &Function, loops: &Loops, from: BlockId, to: BlockId) -> f32 {
    let mut weight = 1.0;
    if let Some(l) = loops.innermost[from]
        && !loops.contains(l, to)
    {
        weight /= ITERATIONS - 1.0;
    }
    if matches!(f.blocks[to].jump, Jump::Hlt) {
        weight *= RARE;
    }
    weight
}
