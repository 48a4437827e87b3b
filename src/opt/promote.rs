//! Slot promotion: what a slot holds becomes values in temporaries, with phis where paths meet.
//!
//! Front ends keep every local in memory; this is the pass that makes their code worth optimizing.
//! The bytes of a slot that are loaded and stored together are a variable of their own, so a struct
//! whose address stays here falls into its fields. SSA construction is that of `construct`. Accesses to
//! a part of a variable become shifts, masks and extensions; integers stored as floats become casts. A
//! read of what was never stored is 0. Phis whose arguments would outgrow the function many times are
//! not made; the bytes stay in memory.
//!
//! Needs SSA form, the CFG and dominators. Breaks uses. Does nothing where a call returns twice.

use super::Env;
use super::construct::{Accesses, Values, Variable, place, rename};
use super::slots::retain_slots;
use crate::analysis::Facts;
use crate::analysis::alias::{Alias, Base};
use crate::analysis::cfg::Cfg;
use crate::analysis::references::calls_return_twice;
use crate::index::{Index, IndexVec};
use crate::ir::eval::eval;
use crate::ir::{
    BlockId, Class, Function, Inst, NameId, Op, Ref, SlotId, TempId, for_each_use_mut,
};

/// Phi arguments and search steps a function may spend, for each instruction and block of it.
const BUDGET: usize = 256;

/// Distinct accesses to a variable: with more, its parts are better off in memory.
const MAX_SHAPES: usize = 4;

/// Promotes slots of `f`; true if there were any to promote.
pub fn run(f: &mut Function, facts: &Facts, env: &Env<'_>) -> bool {
    if f.slots.is_empty() || calls_return_twice(f, env.module) {
        return false;
    }
    let alias = Alias::new(f, &facts.cfg, env.module);
    let mut plan = find_variables(f, &facts.cfg, &alias);
    if plan.variables.is_empty() {
        return false;
    }
    let accesses = find_accesses(f, &facts.cfg, &alias, &plan);
    let size: usize = f.blocks.iter().map(|b| b.insts.len() + 1).sum();
    let placement = place(f, &facts.cfg, &facts.dominators, &accesses, size * BUDGET);
    for (variable, declined) in plan.variables.iter_mut().zip(&placement.declined) {
        variable.declined = *declined;
    }
    let kinds: Vec<(Class, Option<NameId>)> =
        plan.variables.iter().map(|v| (v.class, f.slots[v.slot].name)).collect();
    let kept = plan.slots_kept();
    let mut writer = Writer {
        alias: &alias,
        plan: &plan,
        kept: &kept,
        replaced: IndexVec::filled(Ref::NONE, f.temps.len()),
        spare: Vec::new(),
    };
    rename(f, &facts.cfg, &facts.dominators, &placement, &kinds, |f, b, values| {
        writer.block(f, b, values);
    });
    for block in f.blocks.iter_mut() {
        let args = block.phis.iter_mut().flat_map(|phi| &mut phi.args);
        args.for_each(|(_, r)| *r = writer.resolve(*r));
    }
    retain_slots(f, &kept);
    true
}

/// Bytes of a slot that become a variable.
struct Bytes {
    slot: SlotId,
    offset: i64,
    size: u32,
    /// The class of its values. Bits above the size are garbage.
    class: Class,
    /// It stays in memory after all.
    declined: bool,
}

struct Plan {
    /// In order of slots and offsets.
    variables: Vec<Bytes>,
    /// The first variable of each slot, and of one past the last.
    first: IndexVec<SlotId, u32>,
    /// Slots that have to stay although parts of them may go.
    partial: IndexVec<SlotId, bool>,
}

impl Plan {
    /// The variable that a load or store accesses, and how far into it.
    fn of(&self, f: &Function, alias: &Alias, inst: &Inst) -> Option<(Variable, u32)> {
        let pointer = access(inst)?.1;
        let s = alias.slot(pointer)?;
        let rows = self.first[s] as usize..self.first[SlotId::new(s.index() + 1)] as usize;
        if rows.is_empty() {
            return None;
        }
        let offset = alias.address(f, pointer).offset?;
        let of_slot = &self.variables[rows.clone()];
        let next = of_slot.partition_point(|v| v.offset <= offset);
        let v = rows.start + next.checked_sub(1)?;
        let Bytes { offset: start, size, declined, .. } = self.variables[v];
        let inside = offset < start + i64::from(size) && !declined;
        inside.then(|| (v as Variable, (offset - start) as u32))
    }

    fn slots_kept(&self) -> Vec<bool> {
        let mut kept = self.partial.as_slice().to_vec();
        for v in self.variables.iter().filter(|v| v.declined) {
            kept[v.slot.index()] = true;
        }
        kept
    }
}

/// Accesses of one shape: how often does not matter.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    slot: SlotId,
    offset: i64,
    size: u32,
    kind: Class,
}

/// What was seen of a slot so far.
#[derive(Copy, Clone, Default)]
struct Seen {
    pinned: bool,
    /// Its latest access; most slots have accesses of one shape only.
    last: Option<Shape>,
}

fn find_variables(f: &Function, cfg: &Cfg, alias: &Alias) -> Plan {
    let mut seen = IndexVec::filled(Seen::default(), f.slots.len());
    let mut shapes = Vec::new();
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        for r in block.phis.iter().flat_map(|phi| &phi.args).map(|&(_, r)| r) {
            pin(&mut seen, alias.slot(r));
        }
        for inst in &block.insts {
            look(f, alias, inst, &mut seen, &mut shapes);
        }
        pin(&mut seen, alias.slot(block.jump.arg()));
    }
    shapes.retain(|shape| !seen[shape.slot].pinned);
    shapes.sort_unstable();
    shapes.dedup();
    let mut plan = Plan {
        variables: Vec::new(),
        first: IndexVec::with_capacity(f.slots.len() + 1),
        partial: seen.iter().map(|s| s.pinned).collect(),
    };
    let mut rest = &shapes[..];
    for s in f.slots.indices() {
        plan.first.push(plan.variables.len() as u32);
        while let Some(shape) = rest.first()
            && shape.slot == s
        {
            let taken = overlapping(rest);
            plan.partial[s] |= !add_variable(&mut plan.variables, &rest[..taken]);
            rest = &rest[taken..];
        }
    }
    plan.first.push(plan.variables.len() as u32);
    plan
}

/// How many of the first shapes, sorted, hang together by common bytes.
fn overlapping(shapes: &[Shape]) -> usize {
    let mut end = i64::MIN;
    let apart = |shape: &Shape| {
        let apart = shape.slot != shapes[0].slot || (end != i64::MIN && shape.offset >= end);
        end = end.max(shape.offset + i64::from(shape.size));
        apart
    };
    shapes.iter().position(apart).unwrap_or(shapes.len())
}

/// Makes a variable of accesses that hang together; false if they are not fit for one.
fn add_variable(variables: &mut Vec<Bytes>, shapes: &[Shape]) -> bool {
    let Shape { slot, offset, kind, .. } = shapes[0];
    let end = shapes.iter().map(|s| s.offset + i64::from(s.size)).max().unwrap_or(offset);
    let size = end - offset;
    if size > 8 || shapes.len() > MAX_SHAPES {
        return false;
    }
    let class = match (shapes.iter().all(|s| s.kind == kind), kind) {
        (true, Class::S | Class::D) if size == i64::from(kind.size()) => kind,
        _ if size > 4 => Class::L,
        _ => Class::W,
    };
    variables.push(Bytes { slot, offset, size: size as u32, class, declined: false });
    true
}

fn pin(seen: &mut IndexVec<SlotId, Seen>, slot: Option<SlotId>) {
    if let Some(s) = slot {
        seen[s].pinned = true;
    }
}

/// Notes what an instruction does with slots.
fn look(
    f: &Function,
    alias: &Alias,
    inst: &Inst,
    seen: &mut IndexVec<SlotId, Seen>,
    shapes: &mut Vec<Shape>,
) {
    let Some((size, pointer)) = access(inst) else {
        // An address made from another is as good as that one; all else needs the slot in memory.
        if inst.to.is_none_or(|to| alias.slot(to.into()).is_none()) {
            f.for_each_use(inst, |r| pin(seen, alias.slot(r)));
        }
        return;
    };
    if inst.op.is_store() {
        pin(seen, alias.slot(inst.args[0]));
    }
    let address = alias.address(f, pointer);
    let Base::Slot(slot) = address.base else { return };
    let end = |o: i64| o.saturating_add(size.into()) as u64;
    let Some(offset) = address.offset.filter(|&o| o >= 0 && end(o) <= f.slots[slot].size) else {
        return pin(seen, Some(slot));
    };
    let kind = match inst.op {
        Op::Loads | Op::Stores => Class::S,
        Op::Loadd | Op::Stored => Class::D,
        _ => Class::W,
    };
    let shape = Shape { slot, offset, size, kind };
    let row = &mut seen[slot];
    row.pinned |= inst.volatile;
    if row.last != Some(shape) {
        row.last = Some(shape);
        shapes.push(shape);
    }
}

/// Size and address of a load or a store.
fn access(inst: &Inst) -> Option<(u32, Ref)> {
    match (inst.op.load_size(), inst.op.store_size()) {
        (Some(size), _) => Some((size, inst.args[0])),
        (_, Some(size)) => Some((size, inst.args[1])),
        (None, None) => None,
    }
}

fn find_accesses(f: &Function, cfg: &Cfg, alias: &Alias, plan: &Plan) -> Accesses {
    let mut accesses = Accesses::new(plan.variables.len());
    for &b in &cfg.rpo {
        for inst in &f.blocks[b].insts {
            let Some((v, _)) = plan.of(f, alias, inst) else { continue };
            match inst.op.store_size() {
                None => accesses.read(v, b),
                Some(size) => {
                    if size < plan.variables[v as usize].size {
                        accesses.read(v, b);
                    }
                    accesses.def(v, b);
                }
            }
        }
    }
    accesses
}

/// Rewrites instructions.
struct Writer<'a> {
    alias: &'a Alias,
    plan: &'a Plan,
    /// By slot: whether it stays.
    kept: &'a [bool],
    /// What stands for the result of a load that is gone.
    replaced: IndexVec<TempId, Ref>,
    spare: Vec<Inst>,
}

impl Writer<'_> {
    /// What is read instead of `r`. A replacement is never itself replaced: it was resolved when
    /// it was made, and definitions are walked before uses.
    fn resolve(&self, r: Ref) -> Ref {
        // Temporaries made on the way are not in the table.
        match r.as_temp().and_then(|t| self.replaced.get(t)) {
            Some(&new) if new.is_some() => new,
            _ => r,
        }
    }

    fn block(&mut self, f: &mut Function, b: BlockId, values: &mut Values) {
        let mut insts = std::mem::take(&mut f.blocks[b].insts);
        // Written aside and copied back, so that blocks keep their memory.
        let mut out = std::mem::take(&mut self.spare);
        for inst in &mut insts {
            let variable = self.plan.of(f, self.alias, inst);
            let address_of = inst.to.and_then(|t| self.alias.slot(t.into()));
            if access(inst).is_none() && address_of.is_some_and(|s| !self.kept[s.index()]) {
                continue;
            }
            for_each_use_mut(inst, &mut f.calls, |r| *r = self.resolve(*r));
            match variable {
                None => out.push(*inst),
                Some((v, skip)) if inst.op.is_load() => {
                    self.load(f, inst, v, skip, values.get(v), &mut out);
                }
                Some((v, skip)) => {
                    let value = self.store(f, inst, v, skip, values.get(v), &mut out);
                    values.set(v, value);
                }
            }
        }
        if let Some(r) = f.blocks[b].jump.arg_mut() {
            *r = self.resolve(*r);
        }
        insts.clear();
        insts.extend_from_slice(&out);
        f.blocks[b].insts = insts;
        out.clear();
        self.spare = out;
    }

    /// Replaces a load by the variable's value, or by what makes the result from it.
    fn load(
        &mut self,
        f: &mut Function,
        inst: &Inst,
        v: Variable,
        skip: u32,
        mut value: Ref,
        out: &mut Vec<Inst>,
    ) {
        let to = inst.to.expect("a load has a result");
        let class = self.plan.variables[v as usize].class;
        if skip > 0 {
            let count = f.int(i64::from(8 * skip));
            value = emit(f, out, Op::Shr, class, &[value, count]);
        }
        let op = match inst.op {
            Op::Loadsb => Op::Extsb,
            Op::Loadub => Op::Extub,
            Op::Loadsh => Op::Extsh,
            Op::Loaduh => Op::Extuh,
            Op::Loadsw if inst.class == Class::L => Op::Extsw,
            Op::Loaduw if inst.class == Class::L => Op::Extuw,
            Op::Loads | Op::Loadd if class.is_int() => Op::Cast,
            _ => {
                self.replaced[to] = canonical(f, value, inst.class);
                return;
            }
        };
        out.push(Inst::new(op, inst.class, to, &[value]));
    }

    /// The variable's value after a store.
    fn store(
        &mut self,
        f: &mut Function,
        inst: &Inst,
        v: Variable,
        skip: u32,
        old: Ref,
        out: &mut Vec<Inst>,
    ) -> Ref {
        let Bytes { class, size, .. } = self.plan.variables[v as usize];
        let stored = inst.op.store_size().expect("a store");
        let mut value = inst.args[0];
        if class.is_int() && matches!(inst.op, Op::Stores | Op::Stored) {
            let as_int = if stored == 8 { Class::L } else { Class::W };
            value = emit(f, out, Op::Cast, as_int, &[value]);
        }
        if stored == size {
            return canonical(f, value, class);
        }
        let (extend, mask) = match stored {
            1 => (Op::Extub, 0xff),
            2 => (Op::Extuh, 0xffff),
            _ => (Op::Extuw, 0xffff_ffff_i64),
        };
        value = emit(f, out, extend, class, &[value]);
        if skip > 0 {
            let count = f.int(i64::from(8 * skip));
            value = emit(f, out, Op::Shl, class, &[value, count]);
        }
        if f.bits(old) == Some(0) {
            return value;
        }
        let others = f.int(!(mask << (8 * skip)));
        let others = canonical(f, others, class);
        let rest = emit(f, out, Op::And, class, &[old, others]);
        emit(f, out, Op::Or, class, &[rest, value])
    }
}

/// The result of a pure op, as a constant if its operands are.
fn emit(f: &mut Function, out: &mut Vec<Inst>, op: Op, class: Class, args: &[Ref]) -> Ref {
    let mut bits = [0; 3];
    let known = args.iter().zip(&mut bits).all(|(&r, bits)| {
        f.bits(r).is_some_and(|value| {
            *bits = value;
            true
        })
    });
    if known && let Some(value) = eval(op, class, bits) {
        let value = f.int(value as i64);
        return canonical(f, value, class);
    }
    let to = f.new_temp(class);
    out.push(Inst::new(op, class, to, args));
    Ref::temp(to)
}

/// A constant of a `w` as passes write it, sign-extended from 32 bits; others as they are. The low
/// bits of a float stored as an integer count as that integer.
fn canonical(f: &mut Function, r: Ref, class: Class) -> Ref {
    match (class, f.bits(r)) {
        (Class::W, Some(bits)) => f.int(i64::from(bits as i32)),
        (Class::L, Some(bits)) => f.int(bits as i64),
        _ => r,
    }
}
