//! Slot promotion: a slot that is only loaded and stored whole, or in parts from its start, becomes
//! values in temporaries, with phis where paths meet.
//!
//! Front ends keep every local in memory; this is the pass that makes their code worth optimizing.
//! SSA construction is that of `construct`. All accesses have to start at one offset; narrower ones
//! become masks and extensions, and integers stored as floats become casts. A read of what was never
//! stored is 0. Phis whose arguments would outgrow the function many times are not made; the slot stays.
//!
//! Needs SSA form, the CFG and dominators. Breaks uses. Does nothing where a call returns twice.

use super::Env;
use super::construct::{Accesses, Placement, Values, Variable, place, rename};
use super::slots::retain_slots;
use crate::analysis::Facts;
use crate::analysis::alias::{Alias, Base, calls_return_twice};
use crate::analysis::cfg::Cfg;
use crate::index::IndexVec;
use crate::ir::{
    BlockId, Class, Function, Inst, NameId, Op, Ref, SlotId, TempId, for_each_use_mut,
};

/// Phi arguments and search steps a function may spend, for each instruction and block of it.
const BUDGET: usize = 256;

/// Promotes slots of `f`; true if there were any to promote.
pub fn run(f: &mut Function, facts: &Facts, env: &Env<'_>) -> bool {
    if f.slots.is_empty() || calls_return_twice(f, env.module) {
        return false;
    }
    let alias = Alias::new(f, &facts.cfg, env.module);
    let mut plan = find_variables(f, &facts.cfg, &alias);
    if plan.kinds.is_empty() {
        return false;
    }
    let accesses = find_accesses(f, &facts.cfg, &alias, &plan);
    let size: usize = f.blocks.iter().map(|b| b.insts.len() + 1).sum();
    let placement = place(f, &facts.cfg, &facts.dominators, &accesses, size * BUDGET);
    plan.keep_declined(&placement);
    let kinds: Vec<(Class, Option<NameId>)> =
        plan.kinds.iter().map(|kind| (kind.class, kind.name)).collect();
    let mut writer = Writer {
        alias: &alias,
        plan: &plan,
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
    let kept: Vec<bool> = plan.variables.iter().map(Option::is_none).collect();
    retain_slots(f, &kept);
    true
}

/// A slot that becomes a variable: the class of its values, and the bytes that count. Bits above
/// those are garbage.
struct Kind {
    class: Class,
    size: u32,
    name: Option<NameId>,
}

struct Plan {
    /// The variable that a slot becomes.
    variables: IndexVec<SlotId, Option<Variable>>,
    kinds: Vec<Kind>,
}

impl Plan {
    fn keep_declined(&mut self, placement: &Placement) {
        for variable in self.variables.iter_mut() {
            if variable.is_some_and(|v| placement.declined[v as usize]) {
                *variable = None;
            }
        }
    }
}

/// What was seen of a slot so far.
#[derive(Copy, Clone)]
struct Seen {
    promotable: bool,
    offset: Option<i64>,
    /// The widest access.
    size: u32,
    /// Accesses as integers, as `s`, as `d`.
    int: bool,
    single: bool,
    double: bool,
}

fn find_variables(f: &Function, cfg: &Cfg, alias: &Alias) -> Plan {
    let fresh =
        Seen { promotable: true, offset: None, size: 0, int: false, single: false, double: false };
    let mut seen = IndexVec::filled(fresh, f.slots.len());
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        for r in block.phis.iter().flat_map(|phi| &phi.args).map(|&(_, r)| r) {
            forbid(&mut seen, alias.slot(r));
        }
        for inst in &block.insts {
            look(f, alias, inst, &mut seen);
        }
        forbid(&mut seen, alias.slot(block.jump.arg()));
    }
    let mut kinds = Vec::new();
    let mut variables = IndexVec::with_capacity(f.slots.len());
    for (s, slot) in f.slots.enumerate() {
        let Seen { promotable, size, int, single, double, .. } = seen[s];
        if !promotable || size == 0 {
            variables.push(None);
            continue;
        }
        let class = match (int, single, double) {
            (false, true, false) => Class::S,
            (false, false, true) => Class::D,
            _ if size == 8 => Class::L,
            _ => Class::W,
        };
        variables.push(Some(kinds.len() as Variable));
        kinds.push(Kind { class, size, name: slot.name });
    }
    Plan { variables, kinds }
}

fn forbid(seen: &mut IndexVec<SlotId, Seen>, slot: Option<SlotId>) {
    if let Some(s) = slot {
        seen[s].promotable = false;
    }
}

/// Notes what an instruction does with slots.
fn look(f: &Function, alias: &Alias, inst: &Inst, seen: &mut IndexVec<SlotId, Seen>) {
    let Some((size, pointer)) = access(inst) else {
        // An address made from another is as good as that one; all else needs the slot in memory.
        if inst.to.is_none_or(|to| alias.slot(to.into()).is_none()) {
            f.for_each_use(inst, |r| forbid(seen, alias.slot(r)));
        }
        return;
    };
    if inst.op.is_store() {
        forbid(seen, alias.slot(inst.args[0]));
    }
    let address = alias.address(f, pointer);
    let Base::Slot(s) = address.base else { return };
    let row = &mut seen[s];
    let inside = address
        .offset
        .is_some_and(|o| o >= 0 && (o as u64).saturating_add(size.into()) <= f.slots[s].size);
    if inst.volatile || !inside || row.offset.is_some_and(|o| Some(o) != address.offset) {
        row.promotable = false;
    }
    row.offset = address.offset;
    row.size = row.size.max(size);
    match inst.op {
        Op::Loads | Op::Stores => row.single = true,
        Op::Loadd | Op::Stored => row.double = true,
        _ => row.int = true,
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

fn variable(alias: &Alias, plan: &Plan, inst: &Inst) -> Option<Variable> {
    plan.variables[alias.slot(access(inst)?.1)?]
}

fn find_accesses(f: &Function, cfg: &Cfg, alias: &Alias, plan: &Plan) -> Accesses {
    let mut accesses = Accesses::new(plan.kinds.len());
    for &b in &cfg.rpo {
        for inst in &f.blocks[b].insts {
            let Some(v) = variable(alias, plan, inst) else { continue };
            match inst.op.store_size() {
                None => accesses.read(v, b),
                Some(size) => {
                    if size < plan.kinds[v as usize].size {
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
        let mut out = std::mem::take(&mut self.spare);
        for inst in &mut insts {
            let v = variable(self.alias, self.plan, inst);
            let dead_address = inst
                .to
                .and_then(|t| self.alias.slot(t.into()))
                .is_some_and(|s| self.plan.variables[s].is_some());
            if dead_address && access(inst).is_none() {
                continue;
            }
            for_each_use_mut(inst, &mut f.calls, |r| *r = self.resolve(*r));
            match v {
                None => out.push(*inst),
                Some(v) if inst.op.is_load() => self.load(f, inst, v, values.get(v), &mut out),
                Some(v) => {
                    let value = self.store(f, inst, v, values.get(v), &mut out);
                    values.set(v, value);
                }
            }
        }
        if let Some(r) = f.blocks[b].jump.arg_mut() {
            *r = self.resolve(*r);
        }
        f.blocks[b].insts = out;
        insts.clear();
        self.spare = insts;
    }

    /// Replaces a load by the variable's value, or by what makes the result from it.
    fn load(
        &mut self,
        f: &mut Function,
        inst: &Inst,
        v: Variable,
        value: Ref,
        out: &mut Vec<Inst>,
    ) {
        let to = inst.to.expect("a load has a result");
        let class = self.plan.kinds[v as usize].class;
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
        old: Ref,
        out: &mut Vec<Inst>,
    ) -> Ref {
        let Kind { class, size, .. } = self.plan.kinds[v as usize];
        let mut emit = |f: &mut Function, op, class, args: &[Ref]| {
            let to = f.new_temp(class);
            out.push(Inst::new(op, class, to, args));
            Ref::temp(to)
        };
        let mut value = inst.args[0];
        let as_int = match inst.op {
            Op::Stores => Class::W,
            Op::Stored => Class::L,
            _ => class,
        };
        if class.is_int() && matches!(inst.op, Op::Stores | Op::Stored) && f.bits(value).is_none() {
            value = emit(f, Op::Cast, as_int, &[value]);
        }
        let mask = match inst.op.store_size() {
            Some(1) if size > 1 => Some((Op::Extub, 0xff)),
            Some(2) if size > 2 => Some((Op::Extuh, 0xffff)),
            Some(4) if size > 4 => Some((Op::Extuw, 0xffff_ffff)),
            _ => None,
        };
        match mask {
            None => canonical(f, value, class),
            Some((extend, mask)) => {
                let low = emit(f, extend, class, &[value]);
                if f.bits(old) == Some(0) {
                    return low;
                }
                let mask = f.int(!mask);
                let high = emit(f, Op::And, class, &[old, mask]);
                emit(f, Op::Or, class, &[high, low])
            }
        }
    }
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
