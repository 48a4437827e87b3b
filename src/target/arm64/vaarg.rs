//! `vaarg` as ordinary instructions and blocks, before selection.
//!
//! A list of AAPCS64 (appendix B) has an offset for each register file, negative while there are
//! saved registers left, from the end of their area.

use super::call::{GR_OFFSET, VR_OFFSET};
use crate::ir::{Block, BlockId, Class, Function, Inst, Jump, Op, Phi, Ref};
use crate::target::ObjectFormat;
use crate::target::vaarg::{self, Appender};
use smallvec::smallvec;

/// The function with each `vaarg` expanded; `None` if it has none.
pub fn expand(f: &Function, format: ObjectFormat) -> Option<Function> {
    if !vaarg::has(f, Op::Vaarg) {
        return None;
    }
    let mut f = f.clone();
    let one = if format == ObjectFormat::MachO { vaarg::expand_pointer } else { expand_one };
    vaarg::expand(&mut f, one);
    Some(f)
}

/// Returns the block that goes on after the `vaarg`.
fn expand_one(f: &mut Function, block: BlockId, inst: &Inst) -> BlockId {
    let list = inst.args[0];
    let (field, top, step) =
        if inst.class.is_int() { (GR_OFFSET, 8, 8) } else { (VR_OFFSET, 16, 16) };
    let saved = f.blocks.push(Block::new(Jump::Hlt));
    let stack = f.blocks.push(Block::new(Jump::Hlt));
    let rest = f.blocks.push(Block::new(Jump::Hlt));

    let mut to = Appender { f, block };
    let offset_at = to.plus(Class::L, list, field);
    let offset = to.op(Op::Loadsw, Class::W, &[offset_at]);
    let zero = to.f.int(0);
    let inside = to.op(Op::Csltw, Class::W, &[offset, zero]);
    to.f.blocks[block].jump = Jump::Jnz(inside, saved, stack);

    to.block = saved;
    let top_at = to.plus(Class::L, list, top);
    let top = to.op(Op::Loadl, Class::L, &[top_at]);
    let wide = to.op(Op::Extsw, Class::L, &[offset]);
    let in_area = to.op(Op::Add, Class::L, &[top, wide]);
    let next = to.plus(Class::W, offset, step);
    to.store(Op::Storew, next, offset_at);
    to.f.blocks[saved].jump = Jump::Jmp(rest);

    to.block = stack;
    let on_stack = to.op(Op::Loadl, Class::L, &[list]);
    let next = to.plus(Class::L, on_stack, 8);
    to.store(Op::Storel, next, list);
    to.f.blocks[stack].jump = Jump::Jmp(rest);

    let at = to.f.new_temp(Class::L);
    let args = smallvec![(saved, in_area), (stack, on_stack)];
    to.f.blocks[rest].phis.push(Phi { to: at, class: Class::L, args });
    to.block = rest;
    to.load_result(inst, Ref::temp(at));
    rest
}
