//! `vaarg` as ordinary instructions and blocks, before selection: what targets share.

use crate::ir::{BlockId, Class, Function, Inst, Op, Ref, TempId};

/// True if `f` reads a list of variadic arguments.
pub fn has(f: &Function, op: Op) -> bool {
    f.blocks.iter().any(|b| b.insts.iter().any(|i| i.op == op))
}

/// Replaces each `vaarg` of `f`. `expand` appends to the block what the instruction stands for, and
/// returns the block that goes on after it.
pub fn expand(f: &mut Function, expand: fn(&mut Function, BlockId, &Inst) -> BlockId) {
    for b in f.blocks.indices() {
        expand_block(f, b, expand);
    }
}

/// Cuts `b` at each `vaarg`. Its phis stay with the first part, its jump goes to the last.
fn expand_block(
    f: &mut Function,
    b: BlockId,
    expand: fn(&mut Function, BlockId, &Inst) -> BlockId,
) {
    if !f.blocks[b].insts.iter().any(|i| i.op == Op::Vaarg) {
        return;
    }
    let insts = std::mem::take(&mut f.blocks[b].insts);
    let jump = f.blocks[b].jump;
    let mut current = b;
    for inst in insts {
        if inst.op == Op::Vaarg {
            current = expand(f, current, &inst);
        } else {
            f.blocks[current].insts.push(inst);
        }
    }
    f.blocks[current].jump = jump;
    rename_pred(f, &jump.successors(), b, current);
}

/// In the phis of `succs`: what came from `old` comes from `new`.
pub fn rename_pred(f: &mut Function, succs: &[BlockId], old: BlockId, new: BlockId) {
    for &b in succs {
        for (from, _) in f.blocks[b].phis.iter_mut().flat_map(|phi| &mut phi.args) {
            if *from == old {
                *from = new;
            }
        }
    }
}

/// A `vaarg` of a list that is one pointer to arguments of 8 bytes each.
pub fn expand_pointer(f: &mut Function, block: BlockId, inst: &Inst) -> BlockId {
    let mut to = Appender { f, block };
    let at = to.op(Op::Loadl, Class::L, &[inst.args[0]]);
    let next = to.plus(Class::L, at, 8);
    to.store(Op::Storel, next, inst.args[0]);
    to.load_result(inst, at);
    block
}

/// Pure or reading instructions appended to one block.
pub struct Appender<'a> {
    pub f: &'a mut Function,
    pub block: BlockId,
}

impl Appender<'_> {
    pub fn op(&mut self, op: Op, class: Class, args: &[Ref]) -> Ref {
        let to = self.f.new_temp(class);
        self.op_to(to, op, class, args);
        Ref::temp(to)
    }

    pub fn op_to(&mut self, to: TempId, op: Op, class: Class, args: &[Ref]) {
        self.f.blocks[self.block].insts.push(Inst::new(op, class, to, args));
    }

    pub fn store(&mut self, op: Op, value: Ref, address: Ref) {
        self.f.blocks[self.block].insts.push(Inst::effect(op, &[value, address]));
    }

    pub fn plus(&mut self, class: Class, a: Ref, n: i64) -> Ref {
        if n == 0 {
            return a;
        }
        let n = self.f.int(n);
        self.op(Op::Add, class, &[a, n])
    }

    /// The load of the argument at `at` that a `vaarg` gives.
    pub fn load_result(&mut self, vaarg: &Inst, at: Ref) {
        let load = match vaarg.class {
            Class::W => Op::Loaduw,
            Class::L => Op::Loadl,
            Class::S => Op::Loads,
            Class::D => Op::Loadd,
        };
        let result = vaarg.to.unwrap_or_else(|| self.f.new_temp(vaarg.class));
        self.op_to(result, load, vaarg.class, &[at]);
    }
}
