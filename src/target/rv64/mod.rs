//! RISC-V, 64 bits, with multiplication and floats (rv64gc), the lp64d convention and ELF.

mod abi;
mod arith;
mod call;
mod compare;
mod constants;
mod convert;
pub mod emit;
mod expand;
mod frame;
#[cfg(test)]
mod instances;
pub mod insts;
mod isel;
mod materialise;
mod memory;
mod prepare;
pub mod print;
pub mod regs;

use super::{ObjectFormat, Target};

/// Linux and other systems with the lp64d convention and ELF.
pub static RV64: Target = Target {
    name: "rv64",
    format: ObjectFormat::Elf,
    symbol_prefix: "",
    local_prefix: ".L",
    registers: &regs::LP64D,
    has_select: false,
    function_align: 4,
    select: |f, facts, module, features| isel::select(f, facts, module, features, &abi::CONVENTION),
    emit: emit::emit,
    unwind: &regs::UNWIND,
    keeps_frame_pointer: false,
    features: &["zba", "zbb", "zbs", "unaligned"],
    preamble: print::preamble,
    row_name: |op| insts::row(op).name,
    print: print::print,
    object: None,
};
