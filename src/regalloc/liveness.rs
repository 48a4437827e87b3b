//! Liveness with next-use distances, sparse: for each block a list of what is live at its start
//! and how far away its next use is.
//!
//! Lists are made by walking up from the uses of one value after the other (Boissinot et al. 2008,
//! "Fast liveness checking"; no fixpoint and no dense sets). A distance is a number of instructions;
//! an edge out of a loop adds [`EXIT`], so what is used in a loop is always nearer than what is not
//! (Braun and Hack 2009). Distances round loops settle in two sweeps but for odd nests, where they
//! are only too large.

use super::{Demand, Pool};
use crate::index::{Index, IndexVec};
use crate::ir::BlockId;
use crate::target::machine::{Bank, MFunction, Role, VReg};

/// The distance of a value that is not used again.
pub const DEAD: u32 = u32::MAX;
/// What leaving a loop adds to a distance.
pub const EXIT: u32 = 1 << 24;
/// A live value whose distance is not known yet.
const FAR: u32 = DEAD - 1;
const NONE: u32 = u32::MAX;

/// Where a value is defined.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    pub block: BlockId,
    /// `None`: by a phi.
    pub inst: Option<u32>,
}

/// A phi argument as its predecessor sees it.
#[derive(Copy, Clone, Debug)]
pub struct Outgoing {
    pub block: BlockId,
    pub phi: u32,
    pub arg: VReg,
}

pub struct Liveness {
    /// The number of each block's first instruction in the function, and the total.
    first: Vec<u32>,
    live_in_first: Vec<u32>,
    live_in: Vec<(VReg, u32)>,
    /// Of each operand: the next use of its value after the instruction, counted from the start of
    /// the block.
    pub next: Vec<u32>,
    phi_first: Vec<u32>,
    phi_next: Vec<u32>,
    outgoing_first: Vec<u32>,
    outgoing: Vec<Outgoing>,
    pub definition: IndexVec<VReg, Definition>,
    /// Of each loop header: how many registers of a bank the loop asks for where it counts.
    pub peak: IndexVec<BlockId, [u32; 2]>,
}

impl Liveness {
    pub fn new(code: &MFunction, pool: &Pool) -> Liveness {
        let n = code.blocks.len();
        let mut first = vec![0; n + 1];
        let mut phi_first = vec![0; n + 1];
        for (b, block) in code.blocks.enumerate() {
            first[b.index() + 1] = first[b.index()] + block.insts.len() as u32;
            phi_first[b.index() + 1] = phi_first[b.index()] + block.phis.len() as u32;
        }
        let mut live = Liveness {
            phi_next: vec![DEAD; phi_first[n] as usize],
            first,
            live_in_first: Vec::new(),
            live_in: Vec::new(),
            next: vec![DEAD; code.operands.len()],
            phi_first,
            outgoing_first: Vec::new(),
            outgoing: Vec::new(),
            definition: IndexVec::filled(
                Definition { block: BlockId::new(0), inst: None },
                code.vregs.len(),
            ),
            peak: IndexVec::filled([0; 2], n),
        };
        live.find_outgoing(code);
        live.find_live_in(code);
        let mut sweep = Sweep { at: vec![DEAD; code.vregs.len()], touched: Vec::new() };
        if has_loop(code) {
            live.guess_distances(code, &mut sweep);
        }
        let peaks = live.scan(code, pool, &mut sweep);
        live.peak_of_loops(code, &peaks);
        live
    }

    /// What is live at the start of a block, phis not counted, in increasing order.
    pub fn live_in(&self, b: BlockId) -> &[(VReg, u32)] {
        range(&self.live_in, &self.live_in_first, b)
    }

    /// The next uses of a block's phis, from the start of the block.
    pub fn phi_next(&self, b: BlockId) -> &[u32] {
        range(&self.phi_next, &self.phi_first, b)
    }

    /// The phi arguments a block hands to its successors.
    pub fn outgoing(&self, b: BlockId) -> &[Outgoing] {
        range(&self.outgoing, &self.outgoing_first, b)
    }

    /// The number in the function of a block's first instruction.
    pub fn first(&self, b: BlockId) -> u32 {
        self.first[b.index()]
    }

    /// The number of instructions in the function.
    pub fn total(&self) -> u32 {
        self.first[self.first.len() - 1]
    }

    fn find_outgoing(&mut self, code: &MFunction) {
        let mut pairs = Vec::new();
        for (block, contents) in code.blocks.enumerate() {
            for (i, phi) in contents.phis.iter().enumerate() {
                for &(p, arg) in &phi.args {
                    pairs.push((p, Outgoing { block, phi: i as u32, arg }));
                }
            }
        }
        (self.outgoing_first, self.outgoing) = group(code.blocks.len(), &pairs);
    }

    /// Finds definitions and live-in lists; the distance of an entry is that of a use in the block
    /// itself, else [`FAR`].
    fn find_live_in(&mut self, code: &MFunction) {
        let mut head = vec![NONE; code.vregs.len()];
        let mut last = vec![NONE; code.vregs.len()];
        // Uses of values that come from elsewhere, first ones of each block: a list a value.
        let mut uses: Vec<(BlockId, u32, u32)> = Vec::new();
        for (b, block) in code.blocks.enumerate() {
            for phi in &block.phis {
                self.definition[phi.to] = Definition { block: b, inst: None };
                last[phi.to.index()] = b.index() as u32;
            }
            for (i, inst) in block.insts.iter().enumerate() {
                for operand in code.operands(inst) {
                    let v = operand.reg.index();
                    if last[v] == b.index() as u32 {
                        continue;
                    }
                    last[v] = b.index() as u32;
                    if operand.role == Role::Use {
                        uses.push((b, i as u32, head[v]));
                        head[v] = uses.len() as u32 - 1;
                    }
                }
                for operand in code.operands(inst) {
                    if operand.role != Role::Use {
                        self.definition[operand.reg] =
                            Definition { block: b, inst: Some(i as u32) };
                    }
                }
            }
        }
        for (p, outgoing) in code.blocks.indices().map(|p| (p, self.outgoing(p))) {
            for out in outgoing {
                let v = out.arg.index();
                if self.definition[out.arg].block != p {
                    uses.push((p, FAR, head[v]));
                    head[v] = uses.len() as u32 - 1;
                }
            }
        }
        let pairs = self.walk_up(code, &head, &uses);
        (self.live_in_first, self.live_in) = group(code.blocks.len(), &pairs);
    }

    fn walk_up(
        &self,
        code: &MFunction,
        head: &[u32],
        uses: &[(BlockId, u32, u32)],
    ) -> Vec<(BlockId, (VReg, u32))> {
        let mut pairs = Vec::new();
        let mut mark = vec![NONE; code.blocks.len()];
        let mut stack = Vec::new();
        for v in code.vregs.indices() {
            let mut u = head[v.index()];
            // Blocks that use it first, so that each gets its own distance.
            let mut outgoing_only = Vec::new();
            while u != NONE {
                let (b, at, rest) = uses[u as usize];
                u = rest;
                if at == FAR {
                    outgoing_only.push(b);
                } else {
                    mark[b.index()] = v.index() as u32;
                    pairs.push((b, (v, at)));
                    stack.push(b);
                }
            }
            for b in outgoing_only {
                if mark[b.index()] != v.index() as u32 {
                    mark[b.index()] = v.index() as u32;
                    pairs.push((b, (v, FAR)));
                    stack.push(b);
                }
            }
            let home = self.definition[v].block;
            while let Some(b) = stack.pop() {
                for &p in &code.blocks[b].preds {
                    if p != home && mark[p.index()] != v.index() as u32 {
                        mark[p.index()] = v.index() as u32;
                        pairs.push((p, (v, FAR)));
                        stack.push(p);
                    }
                }
            }
        }
        pairs
    }

    /// Sets `sweep` to the distances at the end of a block, counted from its start.
    fn at_end(&self, code: &MFunction, b: BlockId, sweep: &mut Sweep) {
        sweep.clear();
        let block = &code.blocks[b];
        let length = block.insts.len() as u32;
        for &s in &block.succs {
            let left = block.depth.saturating_sub(code.blocks[s].depth);
            let base = length.saturating_add(left.saturating_mul(EXIT));
            for &(v, d) in self.live_in(s) {
                sweep.lower(v, d.saturating_add(base).min(FAR));
            }
            // Critical edges are split: with phis in `s`, all of `outgoing` goes there.
            for out in self.outgoing(b).iter().filter(|out| out.block == s) {
                sweep.lower(out.arg, base.min(FAR));
            }
        }
    }

    /// A first sweep over the distances, for what the second reads along back edges.
    fn guess_distances(&mut self, code: &MFunction, sweep: &mut Sweep) {
        for b in code.blocks.indices().rev() {
            self.at_end(code, b, sweep);
            let (from, to) = bounds(&self.live_in_first, b);
            for (v, d) in &mut self.live_in[from..to] {
                if *d == FAR {
                    *d = sweep.at[v.index()].min(FAR);
                }
            }
        }
    }

    /// The last sweep: distances of live-in lists, of phis and of all operands. Returns how many
    /// registers of each bank a block asks for: by what is live, and at its calls.
    fn scan(
        &mut self,
        code: &MFunction,
        pool: &Pool,
        sweep: &mut Sweep,
    ) -> IndexVec<BlockId, Peak> {
        let mut peaks = IndexVec::filled(Peak::default(), code.blocks.len());
        for b in code.blocks.indices().rev() {
            self.at_end(code, b, sweep);
            let block = &code.blocks[b];
            let mut counter = Counter::new(code, sweep);
            for (i, inst) in block.insts.iter().enumerate().rev() {
                let operands = code.operands(inst);
                let first = inst.first as usize;
                for (n, operand) in operands.iter().enumerate() {
                    self.next[first + n] = sweep.at[operand.reg.index()];
                }
                for operand in operands.iter().filter(|o| o.role != Role::Use) {
                    counter.dies(code, operand.reg, sweep);
                    sweep.at[operand.reg.index()] = DEAD;
                }
                let demand = Demand::new(operands, code.clobbers(inst));
                counter.across(pool, &demand);
                for operand in operands.iter().filter(|o| o.role == Role::Use) {
                    counter.lives(code, operand.reg, sweep);
                    sweep.set(operand.reg, i as u32);
                }
            }
            peaks[b] = counter.peak;
            let (from, to) = bounds(&self.live_in_first, b);
            for (v, d) in &mut self.live_in[from..to] {
                *d = sweep.at[v.index()];
            }
            let (from, _) = bounds(&self.phi_first, b);
            for (i, phi) in block.phis.iter().enumerate() {
                self.phi_next[from + i] = sweep.at[phi.to.index()];
            }
        }
        peaks
    }

    fn peak_of_loops(&mut self, code: &MFunction, peaks: &IndexVec<BlockId, Peak>) {
        let (inner, outer) = loops(code);
        let frequency = |b: BlockId| code.blocks[b].frequency;
        for b in code.blocks.indices() {
            let Some(h) = inner[b] else { continue };
            for bank in 0..2 {
                let peak = &mut self.peak[h][bank];
                // A rare block spills for itself, so that the loop need not.
                if frequency(b) * 8.0 >= frequency(h) {
                    *peak = (*peak).max(peaks[b].live[bank]);
                }
                if frequency(b) * 4.0 >= frequency(h) {
                    *peak = (*peak).max(peaks[b].call[bank]);
                }
            }
        }
        for h in code.blocks.indices().rev() {
            if inner[h] == Some(h)
                && let Some(o) = outer[h]
            {
                for bank in 0..2 {
                    self.peak[o][bank] = self.peak[o][bank].max(self.peak[h][bank]);
                }
            }
        }
    }
}

/// Distances by value in the block at hand.
struct Sweep {
    at: Vec<u32>,
    touched: Vec<VReg>,
}

impl Sweep {
    fn clear(&mut self) {
        for v in self.touched.drain(..) {
            self.at[v.index()] = DEAD;
        }
    }

    fn lower(&mut self, v: VReg, d: u32) {
        let at = &mut self.at[v.index()];
        if *at == DEAD {
            self.touched.push(v);
        }
        *at = d.min(*at);
    }

    fn set(&mut self, v: VReg, d: u32) {
        if self.at[v.index()] == DEAD {
            self.touched.push(v);
        }
        self.at[v.index()] = d;
    }
}

/// How many registers a block asks for.
#[derive(Copy, Clone, Default)]
struct Peak {
    live: [u32; 2],
    call: [u32; 2],
}

struct Counter {
    now: [u32; 2],
    peak: Peak,
}

impl Counter {
    fn new(code: &MFunction, sweep: &Sweep) -> Counter {
        let mut now = [0; 2];
        for &v in &sweep.touched {
            if !code.vregs[v].rematerialise {
                now[bank(code, v)] += 1;
            }
        }
        Counter { now, peak: Peak { live: now, call: [0; 2] } }
    }

    /// Going up past the definition of a value.
    fn dies(&mut self, code: &MFunction, v: VReg, sweep: &Sweep) {
        if sweep.at[v.index()] != DEAD && !code.vregs[v].rematerialise {
            self.now[bank(code, v)] -= 1;
        }
    }

    /// Going up past a use.
    fn lives(&mut self, code: &MFunction, v: VReg, sweep: &Sweep) {
        if sweep.at[v.index()] == DEAD && !code.vregs[v].rematerialise {
            let bank = bank(code, v);
            self.now[bank] += 1;
            self.peak.live[bank] = self.peak.live[bank].max(self.now[bank]);
        }
    }

    /// At an instruction, between its definitions and its uses: what lives across cannot have the
    /// registers it writes.
    fn across(&mut self, pool: &Pool, demand: &Demand) {
        if demand.all().is_empty() {
            return;
        }
        for bank in [Bank::Int, Bank::Float] {
            let n = bank as usize;
            let lost = pool.allowed.intersection(demand.all()).in_bank(bank).len();
            if lost > 0 && self.now[n] > 0 {
                self.peak.call[n] = self.peak.call[n].max(self.now[n] + lost);
            }
        }
    }
}

/// The row of a value's bank in a pair.
pub fn bank(code: &MFunction, v: VReg) -> usize {
    code.vregs[v].bank as usize
}

fn has_loop(code: &MFunction) -> bool {
    code.blocks.enumerate().any(|(b, block)| is_header(b, &block.preds))
}

/// Whether an edge comes back to the block.
pub fn is_header(b: BlockId, preds: &[BlockId]) -> bool {
    preds.iter().any(|&p| p >= b)
}

/// The innermost loop of each block, named by its header, and the loop around each loop. Blocks
/// come in reverse postorder, so inner headers come later (Havlak 1997, without the irreducible
/// part: such a loop counts as the blocks found below its first header).
fn loops(
    code: &MFunction,
) -> (IndexVec<BlockId, Option<BlockId>>, IndexVec<BlockId, Option<BlockId>>) {
    let n = code.blocks.len();
    let mut inner = IndexVec::filled(None, n);
    let mut outer = IndexVec::filled(None, n);
    let mut above: IndexVec<BlockId, BlockId> = code.blocks.indices().collect();
    let mut work = Vec::new();
    for h in code.blocks.indices().rev() {
        let preds = &code.blocks[h].preds;
        if !is_header(h, preds) {
            continue;
        }
        inner[h] = Some(h);
        work.extend(preds.iter().filter(|&&p| p >= h));
        while let Some(b) = work.pop() {
            let b = find(&mut above, b);
            if b == h {
                continue;
            }
            above[b] = h;
            if inner[b] == Some(b) {
                outer[b] = Some(h);
            } else {
                inner[b] = Some(h);
            }
            work.extend(code.blocks[b].preds.iter().filter(|&&p| p > h));
        }
    }
    (inner, outer)
}

/// The root of `b` in a union-find forest; halves paths on the way.
fn find(above: &mut IndexVec<BlockId, BlockId>, mut b: BlockId) -> BlockId {
    while above[b] != b {
        above[b] = above[above[b]];
        b = above[b];
    }
    b
}

fn bounds(first: &[u32], b: BlockId) -> (usize, usize) {
    (first[b.index()] as usize, first[b.index() + 1] as usize)
}

fn range<'a, T>(rows: &'a [T], first: &[u32], b: BlockId) -> &'a [T] {
    let (from, to) = bounds(first, b);
    &rows[from..to]
}

/// Sorts pairs by block, keeping the order within one: offsets and the flat list.
fn group<T: Copy>(blocks: usize, pairs: &[(BlockId, T)]) -> (Vec<u32>, Vec<T>) {
    let mut first = vec![0_u32; blocks + 1];
    for (b, _) in pairs {
        first[b.index() + 1] += 1;
    }
    for i in 0..blocks {
        first[i + 1] += first[i];
    }
    let Some(&(_, filler)) = pairs.first() else { return (first, Vec::new()) };
    let mut rows = vec![filler; pairs.len()];
    let mut place = first.clone();
    for &(b, row) in pairs {
        rows[place[b.index()] as usize] = row;
        place[b.index()] += 1;
    }
    (first, rows)
}
