//! AArch64.

mod abi;
mod arithmetic;
mod bits;
mod call;
mod compare;
mod convert;
pub mod emit;
mod expand;
mod frame;
mod immediates;
pub mod insts;
mod isel;
mod memory;
mod pairs;
pub mod print;
pub mod regs;
mod vaarg;

use super::{ObjectFormat, Target};

/// Linux and other systems with AAPCS64 and ELF.
pub static ELF: Target = Target {
    name: "arm64",
    format: ObjectFormat::Elf,
    symbol_prefix: "",
    local_prefix: ".L",
    registers: &regs::ELF,
    has_select: true,
    features: &[],
    function_align: 16,
    select: |f, facts, module, features| {
        isel::select(f, facts, module, features, &abi::ELF, ObjectFormat::Elf)
    },
    emit: |input, sink| emit::emit(input, sink, &regs::ELF, ObjectFormat::Elf),
    unwind: &regs::UNWIND,
    keeps_frame_pointer: false,
    preamble: |_, _| {},
    row_name: |op| insts::row(op).name,
    print: print::print,
    object: None,
};

/// Apple systems.
pub static APPLE: Target = Target {
    name: "arm64_apple",
    format: ObjectFormat::MachO,
    symbol_prefix: "_",
    local_prefix: "L",
    registers: &regs::APPLE,
    select: |f, facts, module, features| {
        isel::select(f, facts, module, features, &abi::APPLE, ObjectFormat::MachO)
    },
    emit: |input, sink| emit::emit(input, sink, &regs::APPLE, ObjectFormat::MachO),
    keeps_frame_pointer: true,
    ..ELF
};
