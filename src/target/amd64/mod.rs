//! x86-64.

pub mod codes;
pub mod emit;
mod expand;
mod frame;
pub mod insts;
pub mod print;
pub mod regs;
