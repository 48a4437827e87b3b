//! SSA form for temporaries that are assigned more than once, or read where no assignment is above.
//!
//! Temporaries that are in SSA form already are left alone; a function without others costs one
//! sweep. The rest is built by `construct`. A temporary read before it is assigned is 0. Blocks that
//! cannot be reached are emptied, so that no later pass finds a definition in one.
//!
//! Needs the CFG and dominators; the first pass of all.

use super::Env;
use super::construct::{Accesses, Values, Variable, place, rename};
use crate::analysis::Facts;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::index::{Index, IndexVec};
use crate::ir::{
    BlockId, Class, Function, Inst, Jump, NameId, Op, Ref, Temp, TempId, for_each_use_mut,
};

/// Brings `f` into SSA form; true if anything changed.
pub fn run(f: &mut Function, facts: &Facts, _env: &Env<'_>) -> bool {
    let cleared = clear_unreachable(f, &facts.cfg);
    let variables = find_variables(f, &facts.cfg, &facts.dominators);
    if variables.temps.is_empty() {
        return cleared;
    }
    build(f, &facts.cfg, &facts.dominators, &variables);
    true
}

/// Empties the blocks that cannot be reached and drops what phis take from them.
pub fn clear_unreachable(f: &mut Function, cfg: &Cfg) -> bool {
    if cfg.rpo.len() == f.blocks.len() {
        return false;
    }
    for (b, block) in f.blocks.enumerate_mut() {
        if cfg.is_reachable(b) {
            for phi in &mut block.phis {
                phi.args.retain(|&mut (from, _)| cfg.is_reachable(from));
            }
        } else {
            block.phis.clear();
            block.insts.clear();
            block.jump = Jump::Hlt;
        }
    }
    true
}

const NOT_A_VARIABLE: Variable = Variable::MAX;

/// The temporaries that have to be rebuilt.
struct Variables {
    temps: Vec<TempId>,
    number: IndexVec<TempId, Variable>,
}

impl Variables {
    fn of(&self, r: Ref) -> Option<Variable> {
        self.of_temp(r.as_temp()?)
    }

    fn of_temp(&self, t: TempId) -> Option<Variable> {
        let v = self.number[t];
        (v != NOT_A_VARIABLE).then_some(v)
    }
}

/// Where a temporary is assigned: nowhere, once (block and place in it), or several times.
#[derive(Copy, Clone, PartialEq)]
enum Assigned {
    Nowhere,
    Once(BlockId, u32),
    Often,
}

fn find_variables(f: &Function, cfg: &Cfg, dominators: &Dominators) -> Variables {
    let mut assigned = IndexVec::filled(Assigned::Nowhere, f.temps.len());
    let mut assign = |t: TempId, b: BlockId, i: usize| {
        assigned[t] = match assigned[t] {
            Assigned::Nowhere => Assigned::Once(b, i as u32),
            Assigned::Once(..) | Assigned::Often => Assigned::Often,
        };
    };
    for t in f.params.iter().map(|p| p.to).chain(f.env) {
        assign(t, f.entry(), 0);
    }
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        block.phis.iter().for_each(|phi| assign(phi.to, b, 0));
        for (i, inst) in block.insts.iter().enumerate() {
            if let Some(t) = inst.to {
                assign(t, b, i + 1);
            }
        }
    }
    let mut found =
        Variables { temps: Vec::new(), number: IndexVec::filled(NOT_A_VARIABLE, f.temps.len()) };
    let mut read = |r: Ref, b: BlockId, i: usize| {
        let Some(t) = r.as_temp() else { return };
        let above = match assigned[t] {
            Assigned::Once(d, at) if d == b => (at as usize) < i,
            Assigned::Once(d, _) => dominators.dominates(d, b),
            Assigned::Nowhere | Assigned::Often => false,
        };
        if !above && found.number[t] == NOT_A_VARIABLE {
            found.number[t] = 0;
        }
    };
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        for phi in &block.phis {
            phi.args.iter().for_each(|&(from, r)| read(r, from, usize::MAX));
        }
        for (i, inst) in block.insts.iter().enumerate() {
            f.for_each_use(inst, |r| read(r, b, i + 1));
        }
        read(block.jump.arg(), b, usize::MAX);
    }
    // One that is assigned often and never read has to be told apart too.
    for t in f.temps.indices() {
        if assigned[t] == Assigned::Often || found.number[t] == 0 {
            found.number[t] = found.temps.len() as Variable;
            found.temps.push(t);
        }
    }
    found
}

/// What a phi that was there before reads of a variable on an edge.
struct EdgeRead {
    variable: Variable,
    block: BlockId,
    phi: u32,
    arg: u32,
}

/// The edge reads by predecessor.
struct EdgeReads {
    start: IndexVec<BlockId, u32>,
    rows: Vec<EdgeRead>,
}

impl EdgeReads {
    fn new(f: &Function, cfg: &Cfg, variables: &Variables) -> EdgeReads {
        let mut found = Vec::new();
        for &b in &cfg.rpo {
            for (i, phi) in f.blocks[b].phis.iter().enumerate() {
                for (j, &(from, r)) in phi.args.iter().enumerate() {
                    if let Some(variable) = variables.of(r) {
                        let row = EdgeRead { variable, block: b, phi: i as u32, arg: j as u32 };
                        found.push((from, row));
                    }
                }
            }
        }
        found.sort_by_key(|&(from, _)| from);
        let mut start = IndexVec::filled(0u32, f.blocks.len());
        let mut next = found.len();
        for b in start.indices().rev() {
            while next > 0 && found[next - 1].0 >= b {
                next -= 1;
            }
            start[b] = next as u32;
        }
        EdgeReads { start, rows: found.into_iter().map(|(_, row)| row).collect() }
    }

    fn of(&self, from: BlockId) -> &[EdgeRead] {
        let start = self.start[from] as usize;
        let end = self.start.get(BlockId::new(from.index() + 1)).map(|&e| e as usize);
        &self.rows[start..end.unwrap_or(self.rows.len())]
    }
}

fn build(f: &mut Function, cfg: &Cfg, dominators: &Dominators, variables: &Variables) {
    let edge_reads = EdgeReads::new(f, cfg, variables);
    let accesses = find_accesses(f, cfg, variables, &edge_reads);
    let placement = place(f, cfg, dominators, &accesses, usize::MAX);
    let kinds: Vec<(Class, Option<NameId>)> =
        variables.temps.iter().map(|&t| (f.temps[t].class, f.temps[t].name)).collect();
    // The first assignment met keeps the temporary.
    let mut kept = vec![false; variables.temps.len()];
    let mut define = |temps: &mut IndexVec<TempId, Temp>, values: &mut Values, to: &mut TempId| {
        let Some(v) = variables.of_temp(*to) else { return };
        if std::mem::replace(&mut kept[v as usize], true) {
            let (class, name) = kinds[v as usize];
            *to = temps.push(Temp { class, name });
        }
        values.set(v, (*to).into());
    };
    let read = |r: &mut Ref, values: &Values| {
        if let Some(v) = variables.of(*r) {
            *r = values.get(v);
        }
    };
    rename(f, cfg, dominators, &placement, &kinds, |f, b, values| {
        let Function { blocks, temps, calls, params, env, .. } = f;
        if b.index() == 0 {
            for mut t in params.iter().map(|p| p.to).chain(*env) {
                define(temps, values, &mut t);
            }
        }
        let block = &mut blocks[b];
        block.phis.iter_mut().for_each(|phi| define(temps, values, &mut phi.to));
        block.insts.retain_mut(|inst| {
            for_each_use_mut(inst, calls, |r| read(r, values));
            if let Some(to) = inst.to
                && inst.op == Op::Copy
                && let Some(v) = variables.of_temp(to)
                && fits(temps, inst)
            {
                values.set(v, inst.args[0]);
                return false;
            }
            if let Some(to) = &mut inst.to {
                define(temps, values, to);
            }
            true
        });
        if let Some(r) = block.jump.arg_mut() {
            read(r, values);
        }
        for edge in edge_reads.of(b) {
            let phi = &mut blocks[edge.block].phis[edge.phi as usize];
            phi.args[edge.arg as usize].1 = values.get(edge.variable);
        }
    });
}

/// Whether the operand of a copy is of the copy's class, or a constant.
fn fits(temps: &IndexVec<TempId, Temp>, copy: &Inst) -> bool {
    copy.args[0].as_temp().is_none_or(|t| temps[t].class == copy.class)
}

fn find_accesses(
    f: &Function,
    cfg: &Cfg,
    variables: &Variables,
    edge_reads: &EdgeReads,
) -> Accesses {
    let mut accesses = Accesses::new(variables.temps.len());
    for t in f.params.iter().map(|p| p.to).chain(f.env) {
        if let Some(v) = variables.of_temp(t) {
            accesses.def(v, f.entry());
        }
    }
    for &b in &cfg.rpo {
        let block = &f.blocks[b];
        for phi in &block.phis {
            if let Some(v) = variables.of_temp(phi.to) {
                accesses.def(v, b);
            }
        }
        for inst in &block.insts {
            f.for_each_use(inst, |r| {
                if let Some(v) = variables.of(r) {
                    accesses.read(v, b);
                }
            });
            if let Some(v) = inst.to.and_then(|t| variables.of_temp(t)) {
                accesses.def(v, b);
            }
        }
        if let Some(v) = variables.of(block.jump.arg()) {
            accesses.read(v, b);
        }
        for edge in edge_reads.of(b) {
            accesses.read(edge.variable, b);
        }
    }
    accesses
}
