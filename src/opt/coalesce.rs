//! Slots that are never needed at the same time share their place in the frame; slots that nothing
//! names go; so do stores into bytes that are not read before they are written again.
//!
//! Only slots whose address stays in loads, stores, blits and by-value arguments count: what others
//! may hold on to is needed for ever. For each slot the bytes that will be read are followed
//! backwards, 64 parts of it at most, block by block, starting where it is read; so the work is what
//! the live ranges are long, and bounded. Slots then take the first place, largest first, whose
//! intervals are free (a greedy colouring of the interval graph in linear order of instructions).
//!
//! Needs SSA form and the CFG. Breaks uses. Does nothing where a call returns twice.

use super::Env;
use super::slots::{for_each_operand, retain_slots};
use crate::analysis::Facts;
use crate::analysis::alias::Alias;
use crate::analysis::cfg::Cfg;
use crate::analysis::references::calls_return_twice;
use crate::index::{BitSet, Index, IndexVec};
use crate::ir::{AbiType, BlockId, Function, Inst, Jump, Op, Ref, SlotId};
use std::collections::BTreeMap;

/// Blocks that may be visited for live ranges, for each instruction and block of the function.
const BUDGET: usize = 64;
/// Places that are tried for a slot.
const MAX_TRIES: usize = 48;

/// Lets slots of `f` share places; true if anything changed.
pub fn run(f: &mut Function, facts: &Facts, env: &Env<'_>) -> bool {
    if f.slots.is_empty() || calls_return_twice(f, env.module) {
        return false;
    }
    let alias = Alias::new(f, &facts.cfg, env.module);
    let numbers = Numbers::new(f, &facts.cfg);
    let accesses = Accesses::new(f, &facts.cfg, &alias, &numbers);
    let mut order: Vec<SlotId> =
        f.slots.indices().filter(|&s| !accesses.pinned.contains(s)).collect();
    order.sort_by_key(|&s| (std::cmp::Reverse(f.slots[s].size), s));
    let mut lives = Lives::new(f, &facts.cfg, &numbers);
    let mut places = Places::default();
    let mut dead = Vec::new();
    let mut place_of: IndexVec<SlotId, SlotId> = f.slots.indices().collect();
    for s in order {
        let Some(range) = lives.of(accesses.of(s), &mut dead) else { continue };
        place_of[s] = places.find(s, &range);
    }
    for s in f.slots.indices() {
        let (place, align) = (place_of[s], f.slots[s].align);
        f.slots[place].align = f.slots[place].align.max(align);
    }
    remove(f, &dead);
    let mut named = vec![false; f.slots.len()];
    for_each_operand(f, |r| {
        if let Some(s) = r.as_slot() {
            *r = Ref::slot(place_of[s]);
            named[place_of[s].index()] = true;
        }
    });
    let changed = !dead.is_empty() || named.contains(&false);
    retain_slots(f, &named);
    changed
}

/// Removes instructions, given in any order.
fn remove(f: &mut Function, dead: &[(BlockId, u32)]) {
    for &(b, i) in dead {
        f.blocks[b].insts[i as usize] = Inst::nop();
    }
    for &(b, _) in dead {
        f.blocks[b].insts.retain(|inst| inst.op != Op::Nop);
    }
}

/// Numbers of instructions in reverse postorder of the blocks. The jump has one too.
struct Numbers {
    /// First and last number of each block.
    blocks: IndexVec<BlockId, (u32, u32)>,
}

impl Numbers {
    fn new(f: &Function, cfg: &Cfg) -> Numbers {
        let mut blocks = IndexVec::filled((0, 0), f.blocks.len());
        let mut next = 0;
        for &b in &cfg.rpo {
            let last = next + f.blocks[b].insts.len() as u32;
            blocks[b] = (next, last);
            next = last + 1;
        }
        Numbers { blocks }
    }
}

/// A read or write of a slot. Bit n of a mask stands for the nth of 64 equal parts of the slot, or
/// for byte n of a small one.
#[derive(Copy, Clone)]
struct Access {
    slot: SlotId,
    block: BlockId,
    /// The instruction in its block; the number of instructions for the jump.
    inst: u32,
    write: bool,
    /// The parts with a byte that is accessed.
    touched: u64,
    /// The parts that are overwritten whole.
    killed: u64,
}

/// All accesses by slot, in order of the blocks.
struct Accesses {
    rows: Vec<Access>,
    start: IndexVec<SlotId, u32>,
    /// Slots that have to keep their own place.
    pinned: BitSet<SlotId>,
}

impl Accesses {
    fn new(f: &Function, cfg: &Cfg, alias: &Alias, numbers: &Numbers) -> Accesses {
        let mut found = Finder { f, alias, rows: Vec::new(), pinned: BitSet::new(f.slots.len()) };
        for (s, slot) in f.slots.enumerate() {
            if alias.is_escaped(s) || slot.size == 0 {
                found.pinned.insert(s);
            }
        }
        for &b in &cfg.rpo {
            for (i, inst) in f.blocks[b].insts.iter().enumerate() {
                found.inst(b, i as u32, inst);
            }
            let end = numbers.blocks[b].1 - numbers.blocks[b].0;
            match f.blocks[b].jump {
                Jump::Ret(r) => found.access(b, end, r, u64::MAX, false),
                jump => found.pin(jump.arg()),
            }
        }
        let mut rows = found.rows;
        rows.sort_by_key(|row| row.slot);
        let mut start = IndexVec::filled(0u32, f.slots.len());
        let mut next = rows.len();
        for s in start.indices().rev() {
            while next > 0 && rows[next - 1].slot >= s {
                next -= 1;
            }
            start[s] = next as u32;
        }
        Accesses { rows, start, pinned: found.pinned }
    }

    fn of(&self, s: SlotId) -> &[Access] {
        let start = self.start[s] as usize;
        let end = self.start.get(SlotId::new(s.index() + 1)).map(|&e| e as usize);
        &self.rows[start..end.unwrap_or(self.rows.len())]
    }
}

struct Finder<'a> {
    f: &'a Function,
    alias: &'a Alias,
    rows: Vec<Access>,
    pinned: BitSet<SlotId>,
}

impl Finder<'_> {
    fn pin(&mut self, r: Ref) {
        if let Some(s) = self.alias.slot(r) {
            self.pinned.insert(s);
        }
    }

    fn inst(&mut self, b: BlockId, i: u32, inst: &Inst) {
        let [x, y, z] = inst.args;
        if inst.volatile {
            [x, y].into_iter().filter(|r| r.is_some()).for_each(|r| self.pin(r));
        } else if let Some(size) = inst.op.load_size() {
            self.access(b, i, x, size.into(), false);
        } else if let Some(size) = inst.op.store_size() {
            self.pin(x);
            self.access(b, i, y, size.into(), true);
        } else if inst.op == Op::Blit {
            // It reads before it writes.
            let size = self.f.bits(z).unwrap_or(u64::MAX);
            self.access(b, i, x, size, false);
            self.access(b, i, y, size, true);
        } else if let Some(c) = inst.call() {
            self.pin(x);
            let call = &self.f.calls[c];
            if call.env.is_some() {
                self.pin(call.env);
            }
            for arg in &call.args {
                match arg.ty {
                    AbiType::Aggregate(_) => self.access(b, i, arg.value, u64::MAX, false),
                    _ => self.pin(arg.value),
                }
            }
        } else if inst.to.is_none_or(|t| self.alias.slot(t.into()).is_none()) {
            // Comparisons too: slots that share a place are not to be equal.
            self.f.for_each_use(inst, |r| {
                if let Some(s) = self.alias.slot(r) {
                    self.pinned.insert(s);
                }
            });
        }
    }

    /// An access of `size` bytes at `r`, or of all from there on.
    fn access(&mut self, block: BlockId, inst: u32, r: Ref, size: u64, write: bool) {
        let Some(slot) = self.alias.slot(r) else { return };
        let whole = self.f.slots[slot].size;
        let part = whole.div_ceil(64).max(1);
        let all = bits(0, whole.div_ceil(part));
        let mut row = Access { slot, block, inst, write, touched: all, killed: 0 };
        if let Some(offset) = self.alias.address(self.f, r).offset {
            let size = if size == u64::MAX { whole.saturating_sub(offset as u64) } else { size };
            let end = (offset as u64).saturating_add(size);
            if offset < 0 || end > whole || size == 0 {
                self.pinned.insert(slot);
                return;
            }
            let offset = offset as u64;
            row.touched = bits(offset / part, end.div_ceil(part));
            // The last part may be smaller than the others.
            let full = if end == whole { end.div_ceil(part) } else { end / part };
            row.killed = if write { bits(offset.div_ceil(part), full) } else { 0 };
        }
        self.rows.push(row);
    }
}

/// The bits from `first` up to but not including `end`.
fn bits(first: u64, end: u64) -> u64 {
    if first >= end {
        return 0;
    }
    let below = |n: u64| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    below(end) & !below(first)
}

/// Numbers between which a slot is needed, both ends included, in order and apart.
type Range = Vec<(u32, u32)>;

/// Finds live ranges. The tables are for one slot at a time; a stamp tells whose they are.
struct Lives<'a> {
    cfg: &'a Cfg,
    numbers: &'a Numbers,
    stamp: IndexVec<BlockId, u32>,
    /// What is needed at the end of a block.
    out: IndexVec<BlockId, u64>,
    /// The accesses of the slot in the block.
    rows: IndexVec<BlockId, (u32, u32)>,
    current: u32,
    left: usize,
}

impl<'a> Lives<'a> {
    fn new(f: &Function, cfg: &'a Cfg, numbers: &'a Numbers) -> Lives<'a> {
        let n = f.blocks.len();
        let insts: usize = f.blocks.iter().map(|b| b.insts.len() + 1).sum();
        Lives {
            cfg,
            numbers,
            stamp: IndexVec::filled(0, n),
            out: IndexVec::filled(0, n),
            rows: IndexVec::filled((0, 0), n),
            current: 0,
            left: insts * BUDGET,
        }
    }

    /// The range of the slot with these accesses; writes that nothing reads go to `dead`. `None` if
    /// that would take too long.
    fn of(&mut self, accesses: &[Access], dead: &mut Vec<(BlockId, u32)>) -> Option<Range> {
        self.current += 1;
        let mut seen = Vec::new();
        for (i, access) in accesses.iter().enumerate() {
            let new = self.visit(access.block, &mut seen);
            let rows = &mut self.rows[access.block];
            rows.0 = if new { i as u32 } else { rows.0 };
            rows.1 = i as u32 + 1;
        }
        let mut work = seen.clone();
        while let Some(b) = work.pop() {
            let needed = self.needed_at_start(b, accesses);
            if needed == 0 {
                continue;
            }
            for &p in self.cfg.preds(b) {
                self.left = self.left.checked_sub(1)?;
                self.visit(p, &mut seen);
                if needed & !self.out[p] != 0 {
                    self.out[p] |= needed;
                    work.push(p);
                }
            }
        }
        seen.sort_unstable_by_key(|&b| self.cfg.position[b]);
        let mut range = Range::new();
        for b in seen {
            self.intervals(b, accesses, &mut range, dead);
        }
        Some(range)
    }

    /// Clears the tables of a block that is new to this slot; true if it was.
    fn visit(&mut self, b: BlockId, seen: &mut Vec<BlockId>) -> bool {
        let new = self.stamp[b] != self.current;
        if new {
            self.stamp[b] = self.current;
            self.out[b] = 0;
            self.rows[b] = (0, 0);
            seen.push(b);
        }
        new
    }

    fn needed_at_start(&self, b: BlockId, accesses: &[Access]) -> u64 {
        let mut needed = self.out[b];
        for access in accesses[self.rows[b].0 as usize..self.rows[b].1 as usize].iter().rev() {
            match access.write {
                true => needed &= !access.killed,
                false => needed |= access.touched,
            }
        }
        needed
    }

    /// Appends the intervals of a block.
    fn intervals(
        &self,
        b: BlockId,
        accesses: &[Access],
        range: &mut Range,
        dead: &mut Vec<(BlockId, u32)>,
    ) {
        let (start, last) = self.numbers.blocks[b];
        let before = range.len();
        let mut needed = self.out[b];
        let mut end = last;
        for access in accesses[self.rows[b].0 as usize..self.rows[b].1 as usize].iter().rev() {
            let at = start + access.inst;
            if !access.write {
                end = if needed == 0 { at } else { end };
                needed |= access.touched;
            } else if needed & access.touched == 0 {
                dead.push((b, access.inst));
            } else {
                needed &= !access.killed;
                if needed == 0 {
                    range.push((at, end));
                }
            }
        }
        if needed != 0 {
            range.push((start, end));
        }
        range[before..].reverse();
    }
}

/// Places of the frame and when they are taken.
#[derive(Default)]
struct Places {
    rows: Vec<(SlotId, BTreeMap<u32, u32>)>,
}

impl Places {
    /// A place that is free during `range`: that of an earlier slot, or the slot's own.
    fn find(&mut self, s: SlotId, range: &Range) -> SlotId {
        let free = |taken: &BTreeMap<u32, u32>| {
            range.iter().all(|&(start, end)| {
                taken.range(..=end).next_back().is_none_or(|(_, &until)| until < start)
            })
        };
        let fitting = self.rows.iter_mut().rev().take(MAX_TRIES).find(|row| free(&row.1));
        let row = match fitting {
            Some(row) => row,
            None => {
                self.rows.push((s, BTreeMap::new()));
                self.rows.last_mut().expect("just pushed")
            }
        };
        row.1.extend(range.iter().copied());
        row.0
    }
}
