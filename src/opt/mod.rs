//! The function passes: one file a pass, one entry `run` each. The order is in `pipeline`.

pub mod cfg;
pub mod coalesce;
pub mod code_motion;
pub mod construct;
pub mod copies;
pub mod dead;
pub mod dead_stores;
pub mod divide;
pub mod fold;
pub mod gvn;
pub mod if_convert;
pub mod memory;
pub mod promote;
pub mod replace;
pub mod slots;
pub mod ssa;
#[cfg(test)]
mod testing;

use crate::ir::{Function, Module, Op};
use crate::target::Target;

/// What a pass may know besides the function and its facts.
pub struct Env<'a> {
    /// Symbols, types and data. The functions are taken out while passes run.
    pub module: &'a Module,
    pub target: &'a Target,
}

/// What returns a second time, with the frame as it is then.
const RETURN_TWICE: [&[u8]; 5] = [b"setjmp", b"_setjmp", b"sigsetjmp", b"__sigsetjmp", b"vfork"];

/// True if `f` calls something that returns twice: nothing may move over such a call, and memory
/// that lives across it is not what it seems.
pub fn returns_twice(f: &Function, module: &Module) -> bool {
    let calls = f.blocks.iter().flat_map(|block| &block.insts).filter(|inst| inst.op == Op::Call);
    calls
        .filter_map(|inst| f.symbol_of(inst.args[0]))
        .any(|(symbol, ..)| RETURN_TWICE.contains(&module.symbols.name(symbol)))
}
