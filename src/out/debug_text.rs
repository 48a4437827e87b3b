//! Debug information in assembly text: one compilation unit with the functions of the file. The
//! assembler makes the line table itself, from `.file` and `.loc`.
//!
//! DWARF 4, sections 3.1.1 (compilation units), 3.3.1 (subprograms), 7.5 (their encoding). The unit
//! has no address of its own but ranges, as functions may be in any section.

use crate::index::{Index, IndexVec};
use crate::ir::{Function, FunctionId, SymbolId};
use crate::target::format::push_unsigned;
use crate::target::{Names, ObjectFormat};

/// A function that the unit tells of.
#[derive(Copy, Clone, Debug)]
pub struct Described {
    pub function: FunctionId,
    pub symbol: SymbolId,
    pub exported: bool,
}

/// The functions to tell of: those with a source file, or all.
pub fn describe(functions: &IndexVec<FunctionId, Function>, all: bool) -> Vec<Described> {
    let described = functions.enumerate().filter(|(_, f)| all || f.file.is_some());
    described
        .map(|(function, f)| Described { function, symbol: f.symbol, exported: f.linkage.export })
        .collect()
}

// 7.5.4 and 7.5.6: tags, attributes and forms, as far as they are used here.
const TAG_COMPILE_UNIT: u64 = 0x11;
const TAG_SUBPROGRAM: u64 = 0x2e;
const NAME: u64 = 0x03;
const STMT_LIST: u64 = 0x10;
const LOW_PC: u64 = 0x11;
const HIGH_PC: u64 = 0x12;
const LANGUAGE: u64 = 0x13;
const PRODUCER: u64 = 0x25;
const EXTERNAL: u64 = 0x3f;
const RANGES: u64 = 0x55;
const FORM_ADDR: u64 = 0x01;
const FORM_DATA8: u64 = 0x07;
const FORM_STRING: u64 = 0x08;
const FORM_FLAG: u64 = 0x0c;
const FORM_DATA1: u64 = 0x0b;
const FORM_SEC_OFFSET: u64 = 0x17;
/// 7.12: C99, which debuggers take for a language of plain values.
const LANGUAGE_C99: u64 = 0x0c;

const PRODUCED_BY: &[u8] = concat!("backend ", env!("CARGO_PKG_VERSION")).as_bytes();

/// Appends the label behind the code of a function.
pub fn push_end(names: &Names<'_>, function: FunctionId, out: &mut Vec<u8>) {
    out.extend_from_slice(names.target.local_prefix.as_bytes());
    out.extend_from_slice(b"fe");
    push_unsigned(out, function.index() as u64);
}

/// Begins the section of the line table with a label, before the assembler puts anything there.
pub fn start(names: &Names<'_>, functions: &[Described], out: &mut Vec<u8>) {
    let lines = !functions.is_empty() && !names.module.files.is_empty();
    // In an object of Mach-O or COFF there is one table, at the start.
    if lines && names.target.format == ObjectFormat::Elf {
        section(names, b"line", out);
        label(names, b"line", out);
    }
}

/// Prints the unit, if there is anything to tell of. Its name is that of the first source file.
pub fn unit(names: &Names<'_>, functions: &[Described], out: &mut Vec<u8>) {
    if functions.is_empty() {
        return;
    }
    let name: &[u8] = names.module.files.iter().next().map_or(b"-", |name| name);
    let lines = !names.module.files.is_empty();
    abbreviations(names, lines, out);
    section(names, b"info", out);
    out.extend_from_slice(b"\t.int ");
    push_local(names, b"info_end", out);
    out.push(b'-');
    push_local(names, b"info_start", out);
    out.push(b'\n');
    label(names, b"info_start", out);
    out.extend_from_slice(b"\t.short 4\n");
    offset(names, b"abbrev", out);
    out.extend_from_slice(b"\t.byte 8\n");
    numbers(&[1], out);
    string(PRODUCED_BY, out);
    out.extend_from_slice(b"\t.byte ");
    push_unsigned(out, LANGUAGE_C99);
    out.push(b'\n');
    string(name, out);
    out.extend_from_slice(b"\t.quad 0\n");
    offset(names, b"ranges", out);
    if lines {
        offset(names, b"line", out);
    }
    for f in functions {
        numbers(&[2], out);
        string(unquoted(names.module.symbols.name(f.symbol)), out);
        address(names, f, out);
        length(names, f, out);
        out.extend_from_slice(if f.exported { b"\t.byte 1\n" } else { b"\t.byte 0\n" });
    }
    out.extend_from_slice(b"\t.byte 0\n");
    label(names, b"info_end", out);
    section(names, b"ranges", out);
    label(names, b"ranges", out);
    for f in functions {
        address(names, f, out);
        out.extend_from_slice(b"\t.quad ");
        push_end(names, f.function, out);
        out.push(b'\n');
    }
    out.extend_from_slice(b"\t.quad 0,0\n");
}

/// What the entries of the unit consist of.
fn abbreviations(names: &Names<'_>, lines: bool, out: &mut Vec<u8>) {
    section(names, b"abbrev", out);
    label(names, b"abbrev", out);
    numbers(&[1, TAG_COMPILE_UNIT, 1], out);
    numbers(&[PRODUCER, FORM_STRING, LANGUAGE, FORM_DATA1, NAME, FORM_STRING], out);
    numbers(&[LOW_PC, FORM_ADDR, RANGES, FORM_SEC_OFFSET], out);
    if lines {
        numbers(&[STMT_LIST, FORM_SEC_OFFSET], out);
    }
    numbers(&[0, 0], out);
    numbers(&[2, TAG_SUBPROGRAM, 0], out);
    numbers(&[NAME, FORM_STRING, LOW_PC, FORM_ADDR, HIGH_PC, FORM_DATA8], out);
    numbers(&[EXTERNAL, FORM_FLAG, 0, 0, 0], out);
}

fn section(names: &Names<'_>, name: &[u8], out: &mut Vec<u8>) {
    let (before, after): (&[u8], &[u8]) = match names.target.format {
        ObjectFormat::Elf => (b".section .debug_", b",\"\",@progbits\n"),
        ObjectFormat::MachO => (b".section __DWARF,__debug_", b",regular,debug\n"),
        ObjectFormat::Coff => (b".section .debug_", b",\"dr\"\n"),
    };
    for part in [before, name, after] {
        out.extend_from_slice(part);
    }
}

/// The name of a place in these sections.
fn push_local(names: &Names<'_>, name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(names.target.local_prefix.as_bytes());
    out.extend_from_slice(b"debug_");
    out.extend_from_slice(name);
}

fn label(names: &Names<'_>, name: &[u8], out: &mut Vec<u8>) {
    push_local(names, name, out);
    out.extend_from_slice(b":\n");
}

/// The offset of a place in its section. Linkers put the sections of objects together, but that of
/// Mach-O leaves them in the objects, where each begins with our only contribution.
fn offset(names: &Names<'_>, name: &[u8], out: &mut Vec<u8>) {
    match names.target.format {
        ObjectFormat::MachO => {
            out.extend_from_slice(b"\t.long 0\n");
            return;
        }
        ObjectFormat::Coff if name == b"line" => out.extend_from_slice(b"\t.secrel32 .debug_line"),
        ObjectFormat::Coff => {
            out.extend_from_slice(b"\t.secrel32 ");
            push_local(names, name, out);
        }
        ObjectFormat::Elf => {
            out.extend_from_slice(b"\t.int ");
            push_local(names, name, out);
        }
    }
    out.push(b'\n');
}

fn address(names: &Names<'_>, f: &Described, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\t.quad ");
    names.push_symbol(out, f.symbol);
    out.push(b'\n');
}

fn length(names: &Names<'_>, f: &Described, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\t.quad ");
    push_end(names, f.function, out);
    out.push(b'-');
    names.push_symbol(out, f.symbol);
    out.push(b'\n');
}

fn numbers(list: &[u64], out: &mut Vec<u8>) {
    // All are below 128: one byte each. (The assembler of RISC-V takes one `.uleb128` a line.)
    out.extend_from_slice(b"\t.byte ");
    for (n, &number) in list.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        push_unsigned(out, number);
    }
    out.push(b'\n');
}

/// A string whose escapes are as the source has them.
fn string(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\t.asciz \"");
    out.extend_from_slice(text);
    out.extend_from_slice(b"\"\n");
}

fn unquoted(name: &[u8]) -> &[u8] {
    match name {
        [b'"', inner @ .., b'"'] => inner,
        name => name,
    }
}
