//! Shrink-wrapping: where a function that may return early, before it needs a frame, makes its
//! frame.
//!
//! A block needs the frame if it calls, or names a spill slot or a part of the frame. The frame is
//! made at the start of the deepest block that dominates all of those and is in no loop; what it
//! does not dominate is *early*. Saved registers that early blocks name are renamed there to
//! registers that need no saving, and moved where the frame is made.
//!
//! A late block may go on to an early one only if that one returns at once: emission repeats it.

use super::Layout;
use super::machine::{
    Allocation, Base, Location, MFunction, MInst, PReg, PRegSet, Registers, Role, Step, op,
};
use crate::index::{BitSet, Index, IndexVec};
use crate::ir::BlockId;

/// In smaller functions there is nothing to win, in larger ones looking for it may take long.
const BLOCKS: std::ops::Range<usize> = 3..2000;

/// A frame that is not made at the entry.
#[derive(Debug)]
pub struct Wrap {
    /// The block that begins with the prologue.
    pub at: BlockId,
    early: IndexVec<BlockId, bool>,
    /// Registers that early blocks use in place of saved ones: saved register, substitute.
    names: Vec<(PReg, PReg)>,
    /// Moves after the prologue: from a substitute, to a saved register.
    pub moves: Vec<(PReg, PReg)>,
}

impl Wrap {
    /// Runs without a frame.
    pub fn is_early(&self, b: BlockId) -> bool {
        self.early[b]
    }

    /// What a register is called in an early block.
    pub fn name(&self, r: PReg) -> PReg {
        self.names.iter().find(|n| n.0 == r).map_or(r, |n| n.1)
    }
}

/// What a block's steps do to registers.
#[derive(Copy, Clone, Default)]
struct Summary {
    /// Needs the frame.
    frame: bool,
    named: PRegSet,
    /// Read before it is written.
    read: PRegSet,
    written: PRegSet,
}

/// Finds the place, if there is a better one than the entry.
pub fn find(
    code: &MFunction,
    allocation: &Allocation,
    layout: &Layout,
    registers: &Registers,
    is_short_tail: impl Fn(BlockId) -> bool,
) -> Option<Wrap> {
    let entry = BlockId::new(0);
    if code.dynamic || code.returns_twice || !BLOCKS.contains(&layout.order.len()) {
        return None;
    }
    // Most functions need their frame at once.
    if summary(code, allocation, entry).frame {
        return None;
    }
    let mut summaries = IndexVec::filled(Summary::default(), code.blocks.len());
    for &b in &layout.order {
        summaries[b] = summary(code, allocation, b);
    }
    let idom = dominators(code);
    let mut needing = layout.order.iter().copied().filter(|&b| summaries[b].frame);
    let first = needing.next()?;
    let mut at = needing.fold(first, |a, b| common(&idom, a, b));
    // The prologue changes the flags.
    while code.blocks[at].depth > 0 || code.blocks[at].flags_in {
        at = idom[at];
    }
    if at == entry || !layout.order.contains(&at) {
        return None;
    }
    let mut early = IndexVec::filled(true, code.blocks.len());
    for b in code.blocks.indices() {
        early[b] = b != at && (b == entry || early[idom[b]]);
    }
    // It must not run twice, even in a cycle that is no natural loop.
    if code.blocks[at].preds.iter().any(|&p| !early[p]) {
        return None;
    }
    let returns = |b: BlockId| {
        early[b] && code.blocks[b].insts.last().is_some_and(|last| last.op == op::RETURN)
    };
    if !layout.order.iter().any(|&b| returns(b)) {
        return None;
    }
    for &b in layout.order.iter().filter(|&&b| !early[b]) {
        let block = &code.blocks[b];
        for &s in &block.succs {
            let to = layout.forward[s];
            if early[to] && (block.succs.len() > 1 || !is_short_tail(to)) {
                return None;
            }
        }
    }
    let names = substitutes(code, allocation, layout, registers, &early, &summaries)?;
    let live = live_at(code, at, &early, &summaries);
    let moves = names.iter().filter(|n| live.contains(n.0)).map(|&(c, x)| (x, c)).collect();
    Some(Wrap { at, early, names, moves })
}

/// For each saved register that early blocks name, one that needs no saving and that they do not
/// name otherwise; the one that a parameter came in if that is all it holds.
fn substitutes(
    code: &MFunction,
    allocation: &Allocation,
    layout: &Layout,
    registers: &Registers,
    early: &IndexVec<BlockId, bool>,
    summaries: &IndexVec<BlockId, Summary>,
) -> Option<Vec<(PReg, PReg)>> {
    let early_blocks = || layout.order.iter().copied().filter(|&b| early[b]);
    let named = early_blocks().fold(PRegSet::EMPTY, |set, b| set.union(summaries[b].named));
    let mut free = registers.caller_saved.without(named).without(code.reserved);
    let mut names: Vec<(PReg, PReg)> = Vec::new();
    for saved in named.intersection(registers.callee_saved).iter() {
        let parameter = early_blocks()
            .flat_map(|b| &allocation.steps[b])
            .find_map(|step| match *step {
                Step::Move { from: Location::Reg(from), to, .. } if to == Location::Reg(saved) => {
                    Some(from)
                }
                _ => None,
            })
            .filter(|&p| {
                let once =
                    |r| early_blocks().map(|b| writes(code, allocation, b, r)).sum::<u32>() == 1;
                registers.caller_saved.contains(p)
                    && names.iter().all(|n| n.1 != p)
                    && summaries[BlockId::new(0)].written.contains(p)
                    && once(p)
                    && once(saved)
                    && is_parameter(code, allocation, p)
            });
        let substitute = match parameter {
            Some(p) => p,
            None => {
                let order = registers.order(saved.bank());
                let &x = order.iter().find(|&&r| free.contains(r))?;
                free.remove(x);
                x
            }
        };
        names.push((saved, substitute));
    }
    Some(names)
}

/// `r` is where a parameter comes in.
fn is_parameter(code: &MFunction, allocation: &Allocation, r: PReg) -> bool {
    code.blocks[BlockId::new(0)].insts.first().is_some_and(|inst| {
        inst.op == op::PARAMS
            && (0..usize::from(inst.count))
                .any(|n| allocation.location(inst, n) == Location::Reg(r))
    })
}

/// How often the steps of `b` write `r`.
fn writes(code: &MFunction, allocation: &Allocation, b: BlockId, r: PReg) -> u32 {
    let mut count = 0;
    for step in &allocation.steps[b] {
        let mut one = Summary::default();
        add_step(code, allocation, b, step, &mut one);
        count += u32::from(one.written.contains(r));
    }
    count
}

fn summary(code: &MFunction, allocation: &Allocation, b: BlockId) -> Summary {
    let mut all = Summary::default();
    for step in &allocation.steps[b] {
        add_step(code, allocation, b, step, &mut all);
    }
    all
}

fn add_step(code: &MFunction, allocation: &Allocation, b: BlockId, step: &Step, all: &mut Summary) {
    match *step {
        Step::Inst(i) => add_inst(code, allocation, &code.blocks[b].insts[i as usize], all),
        Step::Move { from, to, .. } => {
            read(from, all);
            write(to, all);
        }
        Step::Swap(x, y) => {
            for r in [x, y] {
                read(Location::Reg(r), all);
            }
            for r in [x, y] {
                write(Location::Reg(r), all);
            }
        }
        Step::Rematerialise { block, inst, to } => {
            frame_address(code, &code.blocks[block].insts[inst as usize], all);
            write(Location::Reg(to), all);
        }
    }
}

fn add_inst(code: &MFunction, allocation: &Allocation, inst: &MInst, all: &mut Summary) {
    frame_address(code, inst, all);
    let clobbers = code.clobbers(inst);
    all.frame |= !clobbers.is_empty();
    all.written = all.written.union(clobbers);
    all.named = all.named.union(clobbers);
    let operands = code.operands(inst);
    for (n, operand) in operands.iter().enumerate() {
        if operand.role == Role::Use {
            read(allocation.location(inst, n), all);
        }
    }
    for (n, operand) in operands.iter().enumerate() {
        if operand.role != Role::Use {
            write(allocation.location(inst, n), all);
        }
    }
}

/// Notes whether an instruction's memory operands are in the frame. A copy of memory has two, the
/// second in the row after the first.
fn frame_address(code: &MFunction, inst: &MInst, all: &mut Summary) {
    let Some(id) = inst.address else { return };
    let count = if inst.imm > 0 { 2 } else { 1 };
    for address in code.addresses.as_slice()[id.index()..].iter().take(count) {
        all.frame |= matches!(address.base, Base::Slot(_) | Base::Incoming | Base::Outgoing);
    }
}

fn read(location: Location, all: &mut Summary) {
    match location {
        Location::Reg(r) => {
            if !all.written.contains(r) {
                all.read.insert(r);
            }
            all.named.insert(r);
        }
        Location::Spill(_) => all.frame = true,
    }
}

fn write(location: Location, all: &mut Summary) {
    match location {
        Location::Reg(r) => {
            all.written.insert(r);
            all.named.insert(r);
        }
        Location::Spill(_) => all.frame = true,
    }
}

/// The registers that late blocks read before they write them, where the frame is made.
fn live_at(
    code: &MFunction,
    at: BlockId,
    early: &IndexVec<BlockId, bool>,
    summaries: &IndexVec<BlockId, Summary>,
) -> PRegSet {
    // Late blocks are those from `at` on that it dominates; all of what they reach is late or a
    // tail, whose reads count too.
    let mut live: IndexVec<BlockId, PRegSet> = IndexVec::filled(PRegSet::EMPTY, code.blocks.len());
    let mut work: BitSet<BlockId> = BitSet::new(code.blocks.len());
    for b in code.blocks.indices() {
        work.insert(b);
    }
    let mut list: Vec<BlockId> = code.blocks.indices().collect();
    while let Some(b) = list.pop() {
        work.remove(b);
        let out = code.blocks[b].succs.iter().fold(PRegSet::EMPTY, |set, &s| set.union(live[s]));
        let s = &summaries[b];
        let before = s.read.union(out.without(s.written));
        if before != live[b] {
            live[b] = before;
            for &p in code.blocks[b].preds.iter().filter(|&&p| !early[p]) {
                if work.insert(p) {
                    list.push(p);
                }
            }
        }
    }
    live[at]
}

/// The immediate dominator of each block (of the entry: itself), by Cooper, Harvey and Kennedy;
/// blocks are in reverse postorder.
fn dominators(code: &MFunction) -> IndexVec<BlockId, BlockId> {
    let entry = BlockId::new(0);
    let mut idom: IndexVec<BlockId, BlockId> = IndexVec::filled(entry, code.blocks.len());
    let mut known = IndexVec::filled(false, code.blocks.len());
    known[entry] = true;
    let mut changed = true;
    while changed {
        changed = false;
        for b in code.blocks.indices().skip(1) {
            let mut preds = code.blocks[b].preds.iter().copied().filter(|&p| known[p]);
            let first = preds.next().expect("a block is reached from one before it");
            let new = preds.fold(first, |x, p| common(&idom, x, p));
            if !known[b] || idom[b] != new {
                known[b] = true;
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom
}

fn common(idom: &IndexVec<BlockId, BlockId>, mut a: BlockId, mut b: BlockId) -> BlockId {
    while a != b {
        while a > b {
            a = idom[a];
        }
        while b > a {
            b = idom[b];
        }
    }
    a
}
