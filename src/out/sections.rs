//! What differs between ELF, Mach-O and COFF in assembly text: sections, and how a definition
//! begins.
//!
//! Mach-O files say `.subsections_via_symbols`: no code runs on into the next definition, and every
//! reference names what it is to. So the linker may leave out what nothing refers to
//! (`-dead_strip`), but not what is in a section that a user named, which may be there to be found
//! by the section.

use crate::ir::{Data, Linkage, SymbolId};
use crate::target::format::push_unsigned;
use crate::target::{Names, ObjectFormat};

/// Where a definition goes if it names no section.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Section {
    Text,
    Data,
    Zero,
}

/// What clang calls the first contents of a Mach-O thread-local.
const TLV_INIT: &[u8] = b"$tlv$init";

/// The section, the alignment, the visibility and the label of a definition.
pub fn start(
    names: &Names<'_>,
    linkage: &Linkage,
    section: Section,
    align: u64,
    symbol: SymbolId,
    out: &mut Vec<u8>,
) {
    let format = names.target.format;
    let variable = format == ObjectFormat::MachO && linkage.thread;
    if variable {
        thread_variable(names, linkage, symbol, out);
    }
    match &linkage.section {
        Some(name) if !variable => named(format, name, linkage, section, out),
        _ => out.extend_from_slice(standard(format, section, linkage.thread)),
    }
    out.push(b'\n');
    if align > 1 {
        out.extend_from_slice(b".balign ");
        push_unsigned(out, align);
        out.push(b'\n');
    }
    if variable {
        names.push_symbol_within(out, b"", symbol, TLV_INIT);
    } else {
        global(names, linkage, symbol, out);
        if format == ObjectFormat::MachO && linkage.section.is_some() {
            out.extend_from_slice(b".no_dead_strip ");
            names.push_symbol(out, symbol);
            out.push(b'\n');
        }
        if format == ObjectFormat::Coff && section == Section::Text {
            coff_function(names, linkage, symbol, out);
        }
        names.push_symbol(out, symbol);
    }
    out.extend_from_slice(b":\n");
}

fn global(names: &Names<'_>, linkage: &Linkage, symbol: SymbolId, out: &mut Vec<u8>) {
    if linkage.export {
        out.extend_from_slice(b".globl ");
        names.push_symbol(out, symbol);
        out.push(b'\n');
    }
}

/// The section that a user named. On Mach-O the name is `segment,section` and the flags are what
/// may follow; or the name is the segment and the flags are the rest.
fn named(
    format: ObjectFormat,
    name: &[u8],
    linkage: &Linkage,
    section: Section,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b".section ");
    let flags = linkage.section_flags.as_deref();
    if format == ObjectFormat::MachO {
        mach_o_section(name, flags, section == Section::Text, out);
        return;
    }
    // An assembler takes a section of COFF without flags for data.
    let code = (format == ObjectFormat::Coff && section == Section::Text).then_some(&b"xr"[..]);
    out.push(b'"');
    out.extend_from_slice(name);
    out.push(b'"');
    if let Some(flags) = flags.or(code) {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(flags);
        out.push(b'"');
    }
}

fn mach_o_section(name: &[u8], flags: Option<&[u8]>, code: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if flags.is_none() && !name.contains(&b',') {
        out.extend_from_slice(if code { b"__TEXT," } else { b"__DATA," });
    }
    out.extend_from_slice(name);
    if let Some(flags) = flags {
        out.push(b',');
        out.extend_from_slice(flags);
    }
    // Nobody said what is in it.
    let words = out[start..].split(|&b| b == b',').count();
    if code && words == 2 {
        out.extend_from_slice(b",regular,pure_instructions");
    }
}

fn standard(format: ObjectFormat, section: Section, thread: bool) -> &'static [u8] {
    match (section, thread, format) {
        (Section::Text, ..) => b".text",
        (Section::Data, false, _) => b".data",
        (Section::Zero, false, _) => b".bss",
        (Section::Data, true, ObjectFormat::Elf) => b".section .tdata,\"awT\"",
        (Section::Zero, true, ObjectFormat::Elf) => b".section .tbss,\"awT\"",
        // What a new thread's copy is made of; the C library marks the ends of it.
        (_, true, ObjectFormat::Coff) => b".section .tls$,\"dw\"",
        (_, true, ObjectFormat::MachO) => b".section __DATA,__thread_data,thread_local_regular",
    }
}

/// A symbol's class and type (static 3 or external 2; function), which linkers look at when they
/// export it or print it.
fn coff_function(names: &Names<'_>, linkage: &Linkage, symbol: SymbolId, out: &mut Vec<u8>) {
    out.extend_from_slice(b".def ");
    names.push_symbol(out, symbol);
    out.extend_from_slice(if linkage.export { b"; .scl 2" } else { b"; .scl 3" });
    out.extend_from_slice(b"; .type 32; .endef\n");
}

/// The descriptor of a Mach-O thread-local, which is what its name means: a function that gives
/// the address (dyld fills it in), a key, and the first contents.
fn thread_variable(names: &Names<'_>, linkage: &Linkage, symbol: SymbolId, out: &mut Vec<u8>) {
    out.extend_from_slice(b".section __DATA,__thread_vars,thread_local_variables\n");
    global(names, linkage, symbol, out);
    names.push_symbol(out, symbol);
    out.extend_from_slice(b":\n\t.quad __tlv_bootstrap,0,");
    names.push_symbol_within(out, b"", symbol, TLV_INIT);
    out.push(b'\n');
}

/// An object of `size` bytes that are all zero.
pub fn zero(names: &Names<'_>, data: &Data, size: u64, out: &mut Vec<u8>) {
    let Data { symbol, linkage, align, .. } = data;
    let format = names.target.format;
    // No assembler has a common thread-local object under a name that others share; as any other
    // it can be defined only once.
    if linkage.common && !linkage.thread {
        out.extend_from_slice(b".comm ");
        names.push_symbol(out, *symbol);
        out.push(b',');
        // Outside ELF a common symbol is an undefined one whose value is its size.
        push_unsigned(out, if format == ObjectFormat::Elf { size } else { size.max(1) });
        out.push(b',');
        push_unsigned(
            out,
            match format {
                ObjectFormat::Elf => (*align).max(1),
                ObjectFormat::MachO | ObjectFormat::Coff => log2(*align),
            },
        );
        out.push(b'\n');
        return;
    }
    // Only these directives make sections of Mach-O that take no space in the file.
    if format == ObjectFormat::MachO && (linkage.thread || linkage.section.is_none()) {
        if linkage.thread {
            thread_variable(names, linkage, *symbol, out);
            out.extend_from_slice(b".tbss ");
            names.push_symbol_within(out, b"", *symbol, TLV_INIT);
        } else {
            global(names, linkage, *symbol, out);
            out.extend_from_slice(b".zerofill __DATA,__bss,");
            names.push_symbol(out, *symbol);
        }
        out.push(b',');
        push_unsigned(out, size);
        out.push(b',');
        push_unsigned(out, log2(*align));
        out.push(b'\n');
        return;
    }
    start(names, linkage, Section::Zero, *align, *symbol, out);
    zeros(size, out);
}

/// `count` bytes of zeros.
pub fn zeros(count: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\t.zero ");
    push_unsigned(out, count);
    out.push(b'\n');
}

fn log2(align: u64) -> u64 {
    u64::from(align.max(1).trailing_zeros())
}

/// Where constants of a size are.
pub fn literals(format: ObjectFormat, size: u8) -> &'static [u8] {
    match (format, size) {
        (ObjectFormat::Elf, _) => b".section .rodata",
        (ObjectFormat::Coff, _) => b".section .rdata,\"dr\"",
        (ObjectFormat::MachO, 4) => b".section __TEXT,__literal4,4byte_literals",
        (ObjectFormat::MachO, 8) => b".section __TEXT,__literal8,8byte_literals",
        (ObjectFormat::MachO, _) => b".section __TEXT,__literal16,16byte_literals",
    }
}

/// The cell of COFF that holds the address of a symbol which may be further away than 2 GiB, in a
/// library: mingw's way, so all objects of a program share one.
pub fn reference_cell(names: &Names<'_>, symbol: SymbolId, out: &mut Vec<u8>) {
    out.extend_from_slice(b".section ");
    names.push_symbol_within(out, b".rdata$.refptr.", symbol, b"");
    out.extend_from_slice(b",\"dr\"\n.globl ");
    names.push_reference_cell(out, symbol);
    out.extend_from_slice(b"\n.linkonce discard\n.balign 8\n");
    names.push_reference_cell(out, symbol);
    out.extend_from_slice(b":\n\t.quad ");
    names.push_symbol(out, symbol);
    out.push(b'\n');
}
