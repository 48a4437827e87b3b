//! x86-64.

mod abi;
mod address;
mod call;
pub mod codes;
mod compare;
mod convert;
pub mod emit;
mod expand;
mod frame;
pub mod insts;
mod isel;
mod memory;
pub mod print;
pub mod regs;
mod vaarg;

use super::machine::MFunction;
use crate::analysis::Facts;
use crate::ir::{Function, Module};
use crate::target::Features;

/// Selection for the System V convention.
pub fn select_sysv(
    f: &Function,
    facts: &Facts,
    module: &Module,
    features: &Features,
) -> MFunction {
    isel::select(f, facts, module, features, &abi::SYSV)
}
