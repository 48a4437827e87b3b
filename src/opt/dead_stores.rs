//! Stores that nothing reads: to slots that are never read, or overwritten in the same block, or to
//! slots of a frame that is about to go.
//!
//! Blocks are walked backwards with a short list of bytes that will be overwritten, and, where the
//! function ends, the set of slots that are still read. Calls and pointers of unknown origin read
//! what escapes. Volatile stores stay.
//!
//! Needs SSA form, the CFG. Breaks uses. Does nothing where a call returns twice.

use super::Env;
use crate::analysis::Facts;
use crate::analysis::alias::{Address, Alias, Base, Relation};
use crate::analysis::cfg::Cfg;
use crate::analysis::references::calls_return_twice;
use crate::index::BitSet;
use crate::ir::ops::Effect;
use crate::ir::{AbiType, BlockId, Function, Inst, Jump, Op, SlotId};

/// Places to be overwritten that are remembered.
const MAX_PLACES: usize = 16;
/// A blit out of a slot that is then not read keeps another slot read; that many links are
/// followed.
const MAX_ROUNDS: usize = 3;

/// Removes dead stores of `f`; true if there were any.
pub fn run(f: &mut Function, facts: &Facts, env: &Env<'_>) -> bool {
    let writes = |inst: &Inst| inst.op.row().effect == Effect::Write;
    let mut insts = f.blocks.iter().flat_map(|b| &b.insts);
    if !insts.any(writes) || calls_return_twice(f, env.module) {
        return false;
    }
    let alias = Alias::new(f, &facts.cfg, env.module);
    let mut changed = false;
    for _ in 0..MAX_ROUNDS {
        let mut sweep = Sweep {
            alias: &alias,
            read: slots_read(f, &facts.cfg, &alias),
            overwritten: Vec::new(),
            live: BitSet::new(f.slots.len()),
            ending: false,
            escaped_live: false,
        };
        let mut round = false;
        for &b in &facts.cfg.rpo {
            round |= sweep.block(f, b);
        }
        changed |= round;
        if !round || f.slots.is_empty() {
            break;
        }
    }
    changed
}

/// The slots that something may read.
fn slots_read(f: &Function, cfg: &Cfg, alias: &Alias) -> BitSet<SlotId> {
    let mut read = BitSet::new(f.slots.len());
    for s in f.slots.indices().filter(|&s| alias.is_escaped(s)) {
        read.insert(s);
    }
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        for inst in &block.insts {
            let at = match inst.op {
                Op::Blit => alias.slot(inst.args[0]),
                op if op.is_load() => alias.slot(inst.args[0]),
                _ => None,
            };
            at.into_iter().for_each(|s| {
                read.insert(s);
            });
            for_each_by_value(f, alias, inst, |s| {
                read.insert(s);
            });
        }
        if let Jump::Ret(r) = block.jump
            && let Some(s) = alias.slot(r)
        {
            read.insert(s);
        }
    }
    read
}

/// Calls `visit` on the slots that a call passes by value.
fn for_each_by_value(f: &Function, alias: &Alias, inst: &Inst, visit: impl FnMut(SlotId)) {
    let Some(c) = inst.call() else { return };
    let by_value = f.calls[c].args.iter().filter(|a| matches!(a.ty, AbiType::Aggregate(_)));
    by_value.filter_map(|a| alias.slot(a.value)).for_each(visit);
}

struct Sweep<'a> {
    alias: &'a Alias,
    /// Slots that something may read, somewhere.
    read: BitSet<SlotId>,
    /// Bytes that are written below and not read before.
    overwritten: Vec<(Address, u64)>,
    /// Where the function ends below: the slots read before it does.
    live: BitSet<SlotId>,
    ending: bool,
    escaped_live: bool,
}

impl Sweep<'_> {
    fn block(&mut self, f: &mut Function, b: BlockId) -> bool {
        self.overwritten.clear();
        self.ending = matches!(f.blocks[b].jump, Jump::Ret(_) | Jump::Hlt);
        self.escaped_live = false;
        if self.ending {
            self.live.clear();
            if matches!(f.ret, Some(AbiType::Aggregate(_)))
                && let Jump::Ret(r) = f.blocks[b].jump
                && r.is_some()
            {
                // The aggregate is read from its address.
                self.reads(self.alias.address(f, r), u64::MAX);
            }
        }
        let mut insts = std::mem::take(&mut f.blocks[b].insts);
        let before = insts.len();
        for inst in insts.iter_mut().rev() {
            if self.is_dead(f, inst) {
                *inst = Inst::nop();
            } else {
                self.pass(f, inst);
            }
        }
        insts.retain(|inst| inst.op != Op::Nop);
        let changed = insts.len() != before;
        f.blocks[b].insts = insts;
        changed
    }

    /// Whether a store or blit writes what nothing reads.
    fn is_dead(&self, f: &Function, inst: &Inst) -> bool {
        let Some((address, size)) = written(f, self.alias, inst) else { return false };
        if inst.volatile {
            return false;
        }
        if let Base::Slot(s) = address.base {
            let escaped = self.alias.is_escaped(s);
            // An address of a slot plus something unknown may be meant for what escapes.
            let certain = address.offset.is_some();
            if certain && !self.read.contains(s) {
                return true;
            }
            let read_below = self.live.contains(s) || (escaped && self.escaped_live);
            if certain && self.ending && !read_below {
                return true;
            }
        }
        self.overwritten.iter().any(|&(a, n)| match self.alias.relation(a, n, address, size) {
            Relation::Overlap(d) => d >= 0 && d as u64 + size <= n,
            Relation::Apart | Relation::Unknown => false,
        })
    }

    /// Takes note of what an instruction that stays reads and writes.
    fn pass(&mut self, f: &Function, inst: &Inst) {
        if let Some(size) = inst.op.load_size() {
            self.reads(self.alias.address(f, inst.args[0]), size.into());
            return;
        }
        if let Some((address, size)) = written(f, self.alias, inst) {
            if inst.op == Op::Blit {
                self.reads(self.alias.address(f, inst.args[0]), size);
            }
            if !inst.volatile && address.offset.is_some() {
                if self.overwritten.len() == MAX_PLACES {
                    self.overwritten.remove(0);
                }
                self.overwritten.push((address, size));
            }
            return;
        }
        if inst.op.row().effect == Effect::Any {
            let alias = self.alias;
            self.escaped_live = true;
            self.overwritten.retain(|&(a, _)| !alias.is_reachable_by_calls(a));
            for_each_by_value(f, alias, inst, |s| {
                self.live.insert(s);
                self.overwritten.retain(|(a, _)| a.base != Base::Slot(s));
            });
        }
    }

    fn reads(&mut self, address: Address, size: u64) {
        match address.base {
            Base::Slot(s) => {
                self.live.insert(s);
                // It may be meant for another that escapes.
                self.escaped_live |= address.offset.is_none();
            }
            Base::Symbol(_) | Base::Absolute | Base::Temp(_) => self.escaped_live = true,
        }
        let alias = self.alias;
        self.overwritten.retain(|&(a, n)| alias.relation(a, n, address, size) == Relation::Apart);
    }
}

/// Where and how many bytes a store or blit writes.
fn written(f: &Function, alias: &Alias, inst: &Inst) -> Option<(Address, u64)> {
    if let Some(size) = inst.op.store_size() {
        return Some((alias.address(f, inst.args[1]), size.into()));
    }
    (inst.op == Op::Blit)
        .then(|| (alias.address(f, inst.args[1]), f.bits(inst.args[2]).unwrap_or(u64::MAX)))
}
