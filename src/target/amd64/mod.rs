//! x86-64.

mod abi;
mod address;
mod call;
pub mod codes;
mod compare;
mod constants;
mod convert;
pub mod emit;
mod encode;
mod expand;
mod flags;
mod frame;
#[cfg(test)]
mod instances;
pub mod insts;
mod isel;
mod memory;
pub mod print;
pub mod regs;
mod vaarg;

use super::{ObjectFormat, Target};

/// Linux and other systems with the System V convention and ELF.
pub static SYSV: Target = Target {
    name: "amd64_sysv",
    format: ObjectFormat::Elf,
    symbol_prefix: "",
    local_prefix: ".L",
    registers: &regs::SYSV,
    has_select: true,
    function_align: 16,
    select: |f, facts, module, features| isel::select(f, facts, module, features, &abi::SYSV),
    emit: emit::emit,
    unwind: &regs::UNWIND,
    features: &["movbe", "bmi2", "popcnt"],
    row_name: |op| insts::row(op).name,
    print: print::print,
    object: Some(&encode::ENCODING),
};
