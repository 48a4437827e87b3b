//! SSA construction: after it every temporary is defined once, and the definition dominates the
//! uses.
//!
//! Temporaries that are so already are left alone. The others get phis on the iterated dominance
//! frontier of their definitions (Cytron et al., 1991), if some block reads them before it defines
//! them, and are renamed in a walk of the dominator tree. Phis that nothing reads are dropped
//! again. What is read before it was ever defined is 0.
//!
//! Needs the CFG and dominators, and no unreachable blocks. Changes no block and no edge.

use super::Env;
use crate::analysis::Facts;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::uses::Definition;
use crate::index::{BitSet, IndexVec, index_types};
use crate::ir::{BlockId, Function, Inst, Op, Phi, Ref, Temp, TempId, for_each_use_mut};
use smallvec::SmallVec;

index_types! {
    /// A temporary that is being renamed.
    VariableId = "var";
}

/// Brings `f` into SSA form; true if it was not.
pub fn run(f: &mut Function, facts: &Facts, _env: &Env<'_>) -> bool {
    let variables = find_variables(f, facts);
    construct(f, &facts.cfg, &facts.dominators, &variables)
}

/// The temporaries with several definitions, or with one that does not dominate all uses.
fn find_variables(f: &Function, facts: &Facts) -> Vec<TempId> {
    let mut wanted: IndexVec<TempId, bool> = IndexVec::filled(false, f.temps.len());
    let mut definitions = IndexVec::filled(Definition::None, f.temps.len());
    let mut define = |t: TempId, place: Definition, wanted: &mut IndexVec<TempId, bool>| {
        wanted[t] |= definitions[t] != Definition::None;
        definitions[t] = place;
    };
    for t in f.params.iter().map(|p| p.to).chain(f.env) {
        define(t, Definition::Parameter, &mut wanted);
    }
    for &b in &facts.cfg.rpo {
        for (n, phi) in f.blocks[b].phis.iter().enumerate() {
            define(phi.to, Definition::Phi(b, n as u32), &mut wanted);
        }
        for (n, inst) in f.blocks[b].insts.iter().enumerate() {
            if let Some(to) = inst.to {
                define(to, Definition::Inst(b, n as u32), &mut wanted);
            }
        }
    }
    let dominators = &facts.dominators;
    let dominated = |t: TempId, b: BlockId, n: u32| match definitions[t] {
        Definition::None => false,
        Definition::Parameter => true,
        Definition::Phi(at, _) => dominators.dominates(at, b),
        Definition::Inst(at, m) if at == b => m < n,
        Definition::Inst(at, _) => dominators.dominates(at, b),
    };
    for &b in &facts.cfg.rpo {
        let mut read = |r: Ref, b: BlockId, n: u32| {
            if let Some(t) = r.as_temp() {
                wanted[t] |= !dominated(t, b, n);
            }
        };
        let block = &f.blocks[b];
        for phi in &block.phis {
            phi.args.iter().for_each(|&(from, r)| read(r, from, u32::MAX));
        }
        for (n, inst) in block.insts.iter().enumerate() {
            f.for_each_use(inst, |r| read(r, b, n as u32));
        }
        read(block.jump.arg(), b, u32::MAX);
    }
    wanted.enumerate().filter(|(_, w)| **w).map(|(t, _)| t).collect()
}

/// Renames `variables`, all other temporaries being in SSA form. A `copy` into a variable whose
/// operand is of its class disappears.
///
/// Returns whether there was anything to do.
pub fn construct(
    f: &mut Function,
    cfg: &Cfg,
    dominators: &Dominators,
    variables: &[TempId],
) -> bool {
    if variables.is_empty() {
        return false;
    }
    let mut number = IndexVec::filled(None, f.temps.len());
    let temps: IndexVec<VariableId, TempId> = variables.iter().copied().collect();
    temps.enumerate().for_each(|(v, &t)| number[t] = Some(v));
    let mut state = Renaming {
        current: IndexVec::filled(None, temps.len()),
        taken: IndexVec::filled(false, temps.len()),
        new_phis: IndexVec::filled(Vec::new(), f.blocks.len()),
        undo: Vec::new(),
        number,
        temps,
    };
    state.place_phis(f, cfg, dominators);
    state.rename(f, dominators);
    state.finish(f, cfg);
    true
}

struct Renaming {
    /// The variable that a temporary is.
    number: IndexVec<TempId, Option<VariableId>>,
    temps: IndexVec<VariableId, TempId>,
    /// The value of each variable where the walk is.
    current: IndexVec<VariableId, Option<Ref>>,
    /// Whether the variable's own temporary is already the result of one of its definitions.
    taken: IndexVec<VariableId, bool>,
    new_phis: IndexVec<BlockId, Vec<(VariableId, Phi)>>,
    /// What to restore when the walk leaves a subtree.
    undo: Vec<(VariableId, Option<Ref>)>,
}

impl Renaming {
    /// Puts phis where definitions of variables meet that some block reads from outside.
    fn place_phis(&mut self, f: &mut Function, cfg: &Cfg, dominators: &Dominators) {
        let (blocks_of, global) = self.definitions(f, cfg);
        if global.is_empty() {
            return;
        }
        let frontier = frontiers(f, cfg, dominators);
        let mut placed: IndexVec<BlockId, Option<VariableId>> =
            IndexVec::filled(None, f.blocks.len());
        let mut work = Vec::new();
        for v in global.iter() {
            work.clear();
            work.extend_from_slice(&blocks_of[v]);
            while let Some(b) = work.pop() {
                for &join in &frontier[b] {
                    if placed[join] == Some(v) {
                        continue;
                    }
                    placed[join] = Some(v);
                    let Temp { class, name } = f.temps[self.temps[v]];
                    let to = f.temps.push(Temp { class, name });
                    self.new_phis[join].push((v, Phi { to, class, args: SmallVec::new() }));
                    work.push(join);
                }
            }
        }
    }

    /// The blocks that define each variable, and the variables some block reads first.
    fn definitions(
        &self,
        f: &Function,
        cfg: &Cfg,
    ) -> (IndexVec<VariableId, Vec<BlockId>>, BitSet<VariableId>) {
        let mut blocks_of: IndexVec<VariableId, Vec<BlockId>> =
            IndexVec::filled(Vec::new(), self.temps.len());
        let mut global = BitSet::new(self.temps.len());
        let variable = |r: Ref| r.as_temp().and_then(|t| self.number[t]);
        for t in f.params.iter().map(|p| p.to).chain(f.env) {
            if let Some(v) = self.number[t] {
                blocks_of[v].push(f.entry());
            }
        }
        for &b in &cfg.rpo {
            let block = &f.blocks[b];
            let define = |t: Option<TempId>, blocks_of: &mut IndexVec<VariableId, Vec<BlockId>>| {
                if let Some(v) = t.and_then(|t| self.number[t])
                    && blocks_of[v].last() != Some(&b)
                {
                    blocks_of[v].push(b);
                }
            };
            block.phis.iter().for_each(|phi| define(Some(phi.to), &mut blocks_of));
            for inst in &block.insts {
                f.for_each_use(inst, |r| {
                    if let Some(v) = variable(r)
                        && blocks_of[v].last() != Some(&b)
                    {
                        global.insert(v);
                    }
                });
                define(inst.to, &mut blocks_of);
            }
            let read_at_end = |r: Ref, global: &mut BitSet<VariableId>| {
                if let Some(v) = variable(r)
                    && blocks_of[v].last() != Some(&b)
                {
                    global.insert(v);
                }
            };
            read_at_end(block.jump.arg(), &mut global);
            for s in Cfg::succs(f, b) {
                for r in f.blocks[s].phis.iter().filter_map(|phi| phi.arg(b)) {
                    read_at_end(r, &mut global);
                }
            }
        }
        (blocks_of, global)
    }

    fn rename(&mut self, f: &mut Function, dominators: &Dominators) {
        for t in f.params.iter().map(|p| p.to).chain(f.env) {
            if let Some(v) = self.number[t] {
                self.current[v] = Some(Ref::temp(t));
                self.taken[v] = true;
            }
        }
        let mut path: Vec<(BlockId, usize)> = Vec::new();
        for &b in &dominators.preorder {
            while let Some(&(above, mark)) = path.last() {
                if dominators.dominates(above, b) {
                    break;
                }
                path.pop();
                for (v, old) in self.undo.drain(mark..).rev() {
                    self.current[v] = old;
                }
            }
            path.push((b, self.undo.len()));
            self.block(f, b);
        }
    }

    fn set(&mut self, v: VariableId, value: Ref) {
        self.undo.push((v, self.current[v]));
        self.current[v] = Some(value);
    }

    /// A fresh temporary for a definition of `v`: its own, the first time.
    fn define(&mut self, f: &mut Function, v: VariableId) -> TempId {
        let own = self.temps[v];
        if !std::mem::replace(&mut self.taken[v], true) {
            return own;
        }
        let Temp { class, name } = f.temps[own];
        f.temps.push(Temp { class, name })
    }

    /// What an operand stands for here.
    fn value(&self, r: Ref) -> Ref {
        match r.as_temp().and_then(|t| self.number.get(t).copied().flatten()) {
            Some(v) => self.current[v].unwrap_or(Ref::ZERO),
            None => r,
        }
    }

    fn block(&mut self, f: &mut Function, b: BlockId) {
        for i in 0..f.blocks[b].phis.len() {
            if let Some(v) = self.number.get(f.blocks[b].phis[i].to).copied().flatten() {
                let to = self.define(f, v);
                f.blocks[b].phis[i].to = to;
                self.set(v, Ref::temp(to));
            }
        }
        for i in 0..self.new_phis[b].len() {
            let (v, to) = (self.new_phis[b][i].0, self.new_phis[b][i].1.to);
            self.set(v, Ref::temp(to));
        }
        let mut insts = std::mem::take(&mut f.blocks[b].insts);
        insts.retain_mut(|inst| self.inst(f, inst));
        f.blocks[b].insts = insts;
        let mut jump = f.blocks[b].jump;
        if let Some(r) = jump.arg_mut() {
            *r = self.value(*r);
        }
        f.blocks[b].jump = jump;
        for s in Cfg::succs(f, b) {
            for phi in &mut f.blocks[s].phis {
                for (_, r) in phi.args.iter_mut().filter(|(from, _)| *from == b) {
                    *r = self.value(*r);
                }
            }
            for i in 0..self.new_phis[s].len() {
                let value = self.current[self.new_phis[s][i].0].unwrap_or(Ref::ZERO);
                self.new_phis[s][i].1.args.push((b, value));
            }
        }
    }

    /// Renames one instruction; false if it is to go.
    fn inst(&mut self, f: &mut Function, inst: &mut Inst) -> bool {
        for_each_use_mut(inst, &mut f.calls, |r| *r = self.value(*r));
        let Some(to) = inst.to else { return true };
        let fits =
            inst.op == Op::Copy && f.class_of(inst.args[0]).is_none_or(|class| class == inst.class);
        match self.number[to] {
            Some(v) if fits => {
                self.set(v, inst.args[0]);
                false
            }
            Some(v) => {
                let to = self.define(f, v);
                inst.to = Some(to);
                self.set(v, Ref::temp(to));
                true
            }
            None => true,
        }
    }

    /// Adds the phis that something reads.
    fn finish(mut self, f: &mut Function, cfg: &Cfg) {
        let mut home: IndexVec<TempId, Option<(BlockId, u32)>> =
            IndexVec::filled(None, f.temps.len());
        for &b in &cfg.rpo {
            for (n, (_, phi)) in self.new_phis[b].iter().enumerate() {
                home[phi.to] = Some((b, n as u32));
            }
        }
        let mut live: BitSet<TempId> = BitSet::new(f.temps.len());
        let mut work = Vec::new();
        let mut read = |r: Ref, work: &mut Vec<(BlockId, u32)>| {
            if let Some(t) = r.as_temp()
                && let Some(place) = home[t]
                && live.insert(t)
            {
                work.push(place);
            }
        };
        for &b in &cfg.rpo {
            let block = &f.blocks[b];
            for phi in &block.phis {
                phi.args.iter().for_each(|&(_, r)| read(r, &mut work));
            }
            for inst in &block.insts {
                f.for_each_use(inst, |r| read(r, &mut work));
            }
            read(block.jump.arg(), &mut work);
        }
        while let Some((b, n)) = work.pop() {
            for &(_, r) in &self.new_phis[b][n as usize].1.args {
                read(r, &mut work);
            }
        }
        for &b in &cfg.rpo {
            let phis = std::mem::take(&mut self.new_phis[b]);
            let kept = phis.into_iter().map(|(_, phi)| phi).filter(|phi| live.contains(phi.to));
            f.blocks[b].phis.extend(kept);
        }
    }
}

/// The dominance frontier of every block.
fn frontiers(
    f: &Function,
    cfg: &Cfg,
    dominators: &Dominators,
) -> IndexVec<BlockId, SmallVec<[BlockId; 2]>> {
    let mut frontier = IndexVec::filled(SmallVec::new(), f.blocks.len());
    for &join in &cfg.rpo {
        // The entry has no predecessors, but a loop header with one entering edge may have two.
        let stop = dominators.idom[join];
        for &p in cfg.preds(join) {
            let mut at = Some(p);
            while let Some(b) = at
                && at != stop
            {
                let list: &mut SmallVec<[BlockId; 2]> = &mut frontier[b];
                if list.last() != Some(&join) {
                    list.push(join);
                }
                at = dominators.idom[b];
            }
        }
    }
    frontier
}
