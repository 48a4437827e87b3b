//! `vaarg` as ordinary instructions and blocks, before selection, and the block that saves vector
//! registers at the start of a function that reads its variadic arguments.
//!
//! A list of the System V convention is `{ u32 ints, u32 floats, void *stack, void *saved }`: while
//! the offset of its kind is inside the save area the argument is there, else on the stack. A list
//! of the Microsoft convention is a pointer to the next argument.

use crate::ir::{Block, BlockId, Class, Function, Inst, Jump, Op, Phi, Ref, TempId};
use crate::target::ObjectFormat;
use crate::target::vaarg::{self, Appender, has, rename_pred};
use smallvec::smallvec;

/// Bytes of the save area that hold integer registers, and all of it.
const INTS_END: i64 = 48;
const FLOATS_END: i64 = 176;

/// A function whose variadic arguments are ordinary code.
pub struct Expanded {
    pub function: Function,
    pub vectors: Option<Vectors>,
}

/// How a variadic function saves vector registers.
#[derive(Copy, Clone, Debug)]
pub struct Vectors {
    /// The parameter whose low byte is 0 if there are none to save.
    pub count: TempId,
    /// The block that saves them. It is empty before selection.
    pub save: BlockId,
}

/// The function with each `vaarg` expanded, and with a place to save registers if it has a
/// `vastart` and its system saves them in a block; `None` if there is nothing to change.
pub fn expand(f: &Function, format: ObjectFormat) -> Option<Expanded> {
    let windows = format == ObjectFormat::Coff;
    let starts = !windows && has(f, Op::Vastart);
    if !starts && !has(f, Op::Vaarg) {
        return None;
    }
    let mut f = f.clone();
    if windows {
        vaarg::expand(&mut f, vaarg::expand_pointer);
        return Some(Expanded { function: f, vectors: None });
    }
    vaarg::expand(&mut f, expand_one);
    let vectors = starts.then(|| add_save_block(&mut f));
    Some(Expanded { function: f, vectors })
}

/// Puts a branch in front of everything: to a block that saves vector registers, or past it.
fn add_save_block(f: &mut Function) -> Vectors {
    let entry = f.entry();
    let body = std::mem::replace(&mut f.blocks[entry], Block::new(Jump::Hlt));
    let succs = body.jump.successors();
    let rest = f.blocks.push(body);
    rename_pred(f, &succs, entry, rest);
    let save = f.blocks.push(Block::new(Jump::Jmp(rest)));
    let count = f.new_temp(Class::W);
    let mut to = Appender { f, block: entry };
    let any = to.op(Op::Extub, Class::W, &[Ref::temp(count)]);
    f.blocks[entry].jump = Jump::Jnz(any, save, rest);
    Vectors { count, save }
}

/// Returns the block that goes on after the `vaarg`.
fn expand_one(f: &mut Function, block: BlockId, inst: &Inst) -> BlockId {
    let list = inst.args[0];
    let class = inst.class;
    let (field, end, step) = if class.is_int() { (0, INTS_END, 8) } else { (4, FLOATS_END, 16) };
    let saved = f.blocks.push(Block::new(Jump::Hlt));
    let stack = f.blocks.push(Block::new(Jump::Hlt));
    let rest = f.blocks.push(Block::new(Jump::Hlt));

    let mut to = Appender { f, block };
    let offset_at = to.plus(Class::L, list, field);
    let offset = to.op(Op::Loaduw, Class::W, &[offset_at]);
    let end = to.f.int(end);
    let inside = to.op(Op::Cultw, Class::W, &[offset, end]);
    to.f.blocks[block].jump = Jump::Jnz(inside, saved, stack);

    to.block = saved;
    let area_at = to.plus(Class::L, list, 16);
    let area = to.op(Op::Loadl, Class::L, &[area_at]);
    let wide = to.op(Op::Extuw, Class::L, &[offset]);
    let in_area = to.op(Op::Add, Class::L, &[area, wide]);
    let next = to.plus(Class::W, offset, step);
    to.store(Op::Storew, next, offset_at);
    to.f.blocks[saved].jump = Jump::Jmp(rest);

    to.block = stack;
    let stack_at = to.plus(Class::L, list, 8);
    let on_stack = to.op(Op::Loadl, Class::L, &[stack_at]);
    let next = to.plus(Class::L, on_stack, 8);
    to.store(Op::Storel, next, stack_at);
    to.f.blocks[stack].jump = Jump::Jmp(rest);

    let at = to.f.new_temp(Class::L);
    let args = smallvec![(saved, in_area), (stack, on_stack)];
    to.f.blocks[rest].phis.push(Phi { to: at, class: Class::L, args });
    to.block = rest;
    to.load_result(inst, Ref::temp(at));
    rest
}
