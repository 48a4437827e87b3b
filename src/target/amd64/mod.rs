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
mod microsoft;
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
    select: |f, facts, module, features| {
        isel::select(f, facts, module, features, ObjectFormat::Elf)
    },
    emit: |input, sink| emit::emit(input, ObjectFormat::Elf, sink),
    unwind: &regs::UNWIND,
    keeps_frame_pointer: false,
    features: &["movbe", "bmi2", "popcnt"],
    preamble: |_, _| {},
    row_name: |op| insts::row(op).name,
    print: print::print,
    object: Some(&encode::ENCODING),
};

/// macOS: the System V convention and Mach-O.
pub static APPLE: Target = Target {
    name: "amd64_apple",
    format: ObjectFormat::MachO,
    symbol_prefix: "_",
    local_prefix: "L",
    select: |f, facts, module, features| {
        isel::select(f, facts, module, features, ObjectFormat::MachO)
    },
    emit: |input, sink| emit::emit(input, ObjectFormat::MachO, sink),
    object: None,
    ..SYSV
};

/// Windows: the Microsoft convention and COFF, for mingw's assembler, linker and libraries.
pub static WIN: Target = Target {
    name: "amd64_win",
    format: ObjectFormat::Coff,
    registers: &regs::WIN,
    select: |f, facts, module, features| {
        isel::select(f, facts, module, features, ObjectFormat::Coff)
    },
    emit: |input, sink| emit::emit(input, ObjectFormat::Coff, sink),
    object: None,
    ..SYSV
};
