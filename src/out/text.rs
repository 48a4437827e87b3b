//! Assembly text in the syntax that GNU as and clang share, with QBE's choice of sections and
//! alignment.
//!
//! Functions are printed independently of each other, into buffers of their own, so any thread
//! may print any of them; [`file`] puts them in order among the data, and [`finish`] writes the
//! literals that all of them used. What differs between object formats is in
//! [`sections`](super::sections).

use super::debug_text::{self, Described};
use super::sections::{self, Section, start};
use crate::index::{Index, IndexVec};
use crate::ir::{
    Access, BlockId, Data, DataId, DataItem, FileId, FunctionId, Item, Module, SymbolId, Width,
};
use crate::target::format::{push_offset, push_signed, push_unsigned};
use crate::target::machine::PReg;
use crate::target::unwind::{FrameAction, Rule, Tracker};
use crate::target::{
    Arg, EmitInput, Features, Instruction, Memory, MemoryBase, Named, Names, ObjectFormat, Sink,
    Target,
};

/// Numbers of one data item that are put on one line.
const NUMBERS_A_LINE: usize = 16;

/// What code wants to find in read-only data.
#[derive(Clone, Default, Debug)]
pub struct Literals {
    /// Constants: their sizes in bytes and bits.
    pub(super) used: Vec<(u8, u64)>,
    /// Symbols whose addresses are read from cells that the file itself has to define.
    cells: Vec<SymbolId>,
}

impl Literals {
    pub(super) fn add(&mut self, bits: u64, size: u8) {
        if self.used.last() != Some(&(size, bits)) {
            self.used.push((size, bits));
        }
    }

    fn add_cell(&mut self, symbol: SymbolId) {
        if self.cells.last() != Some(&symbol) {
            self.cells.push(symbol);
        }
    }

    /// Adds those that another thread found.
    pub fn merge(&mut self, other: &Literals) {
        self.used.extend_from_slice(&other.used);
        self.cells.extend_from_slice(&other.cells);
        self.compact();
    }

    /// Sorts, the largest first, and drops those that are there twice.
    pub(super) fn compact(&mut self) {
        self.used.sort_unstable_by_key(|&(size, bits)| (std::cmp::Reverse(size), bits));
        self.used.dedup();
        self.cells.sort_unstable();
        self.cells.dedup();
    }
}

/// Prints one function. `number` is its place in the module.
pub fn function(
    target: &Target,
    input: &EmitInput<'_>,
    number: FunctionId,
    out: &mut Vec<u8>,
    literals: &mut Literals,
) {
    let f = input.function;
    let names = Names { module: input.module, target, function: number.index() };
    start(&names, &f.linkage, Section::Text, u64::from(target.function_align), f.symbol, out);
    let unwind = match (input.unwind, target.format) {
        (false, _) => Unwinding::None,
        (true, ObjectFormat::Coff) => {
            out.extend_from_slice(b".seh_proc ");
            names.push_symbol(out, f.symbol);
            out.push(b'\n');
            Unwinding::Windows
        }
        (true, ObjectFormat::Elf | ObjectFormat::MachO) => {
            out.extend_from_slice(b".cfi_startproc\n");
            Unwinding::Dwarf(Box::new(Tracker::new(target.unwind)))
        }
    };
    let sink = &mut TextSink { names, file: f.file, out, literals, unwind };
    (target.emit)(input, sink);
    sink.out.extend_from_slice(match sink.unwind {
        Unwinding::None => b"",
        Unwinding::Windows => b".seh_endproc\n",
        Unwinding::Dwarf(_) => b".cfi_endproc\n",
    });
    if input.debug {
        debug_text::push_end(&sink.names, number, sink.out);
        sink.out.extend_from_slice(b":\n");
    }
    if target.format == ObjectFormat::Elf {
        let TextSink { names, out, .. } = sink;
        out.extend_from_slice(b".type ");
        names.push_symbol(out, f.symbol);
        out.extend_from_slice(b", @function\n.size ");
        names.push_symbol(out, f.symbol);
        out.extend_from_slice(b", .-");
        names.push_symbol(out, f.symbol);
        out.push(b'\n');
    }
}

/// The text sink of one function.
struct TextSink<'a> {
    names: Names<'a>,
    file: Option<FileId>,
    out: &'a mut Vec<u8>,
    literals: &'a mut Literals,
    unwind: Unwinding,
}

/// What is said about frames.
enum Unwinding {
    None,
    /// Call frame information, and what it says so far.
    Dwarf(Box<Tracker>),
    /// The prologue, for the tables of Windows.
    Windows,
}

impl Sink for TextSink<'_> {
    fn block(&mut self, block: BlockId) {
        self.names.push_block(self.out, block);
        self.out.extend_from_slice(b":\n");
    }

    fn instruction(&mut self, instruction: &Instruction) {
        for arg in &instruction.args {
            match *arg {
                Arg::Memory(Memory { base: MemoryBase::Pool(bits, size), .. })
                | Arg::Part { of: Named::Pool(bits, size), .. } => self.literals.add(bits, size),
                Arg::Memory(Memory {
                    base: MemoryBase::Symbol(symbol, Access::Extern), ..
                }) if self.names.target.format == ObjectFormat::Coff => {
                    self.literals.add_cell(symbol);
                }
                _ => {}
            }
        }
        self.out.push(b'\t');
        (self.names.target.print)(instruction, &self.names, self.out);
        self.out.push(b'\n');
    }

    fn location(&mut self, line: u32, column: u32) {
        // Without a `dbgfile` there is no file for the line to be in.
        let Some(file) = self.file else { return };
        self.out.extend_from_slice(b"\t.loc ");
        push_unsigned(self.out, file.index() as u64 + 1);
        self.out.push(b' ');
        push_unsigned(self.out, u64::from(line));
        if column != 0 {
            self.out.push(b' ');
            push_unsigned(self.out, u64::from(column));
        }
        self.out.push(b'\n');
    }

    fn frame(&mut self, action: FrameAction) {
        let TextSink { names, out, unwind, .. } = self;
        match unwind {
            Unwinding::None => {}
            Unwinding::Dwarf(tracker) => {
                tracker.action(action, |rule| push_rule(names.target, rule, out));
            }
            Unwinding::Windows => push_prologue(names.target, action, out),
        }
    }
}

/// Prints what an action of a prologue is in the tables of Windows ("x64 exception handling", struct
/// UNWIND_CODE). Epilogues the unwinder recognises by their instructions.
fn push_prologue(target: &Target, action: FrameAction, out: &mut Vec<u8>) {
    let (directive, register, number): (&[u8], _, _) = match action {
        FrameAction::Push(r) => (b"pushreg ", Some(r), None),
        // More than the tables can say.
        FrameAction::Allocate(bytes) if bytes == 0 || u32::try_from(bytes).is_err() => return,
        FrameAction::Allocate(bytes) => (b"stackalloc ", None, Some(bytes)),
        FrameAction::Save(r, offset) => (b"savexmm ", Some(r), Some(offset)),
        FrameAction::SetFrame(r, offset) => (b"setframe ", Some(r), Some(offset)),
        FrameAction::EndPrologue => (b"endprologue", None, None),
        FrameAction::Pop(_)
        | FrameAction::Restore(_)
        | FrameAction::Release(_)
        | FrameAction::Reset(_)
        | FrameAction::BeginEpilogue { .. }
        | FrameAction::EndEpilogue
        | FrameAction::Block { .. } => return,
    };
    out.extend_from_slice(b"\t.seh_");
    push_directive(target, directive, register, number, out);
}

/// Prints a rule of call frame information.
fn push_rule(target: &Target, rule: Rule, out: &mut Vec<u8>) {
    let (directive, register, offset): (&[u8], _, _) = match rule {
        Rule::Cfa(r, offset) => (b"def_cfa ", Some(r), Some(offset)),
        Rule::CfaOffset(offset) => (b"def_cfa_offset ", None, Some(offset)),
        Rule::CfaRegister(r) => (b"def_cfa_register ", Some(r), None),
        Rule::Saved(r, offset) => (b"offset ", Some(r), Some(offset)),
        Rule::Same(r) => (b"restore ", Some(r), None),
        Rule::Remember => (b"remember_state", None, None),
        Rule::Recall => (b"restore_state", None, None),
    };
    out.extend_from_slice(b"\t.cfi_");
    push_directive(target, directive, register, offset, out);
}

fn push_directive(
    target: &Target,
    directive: &[u8],
    register: Option<PReg>,
    number: Option<i64>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(directive);
    if let Some(r) = register {
        (target.unwind.name)(out, r);
    }
    if let Some(number) = number {
        if register.is_some() {
            out.extend_from_slice(b", ");
        }
        push_signed(out, number);
    }
    out.push(b'\n');
}

/// Prints one data object.
pub fn data(target: &Target, module: &Module, data: &Data, out: &mut Vec<u8>) {
    let names = Names { module, target, function: 0 };
    let zero = data.items.iter().try_fold(0u64, |sum, item| match item {
        DataItem::Zero(n) => Some(sum + n),
        DataItem::Int(..) | DataItem::String(_) | DataItem::Address(..) => None,
    });
    match zero {
        Some(size) => sections::zero(&names, data, size, out),
        None => {
            start(&names, &data.linkage, Section::Data, data.align, data.symbol, out);
            items(&names, &data.items, out);
        }
    }
}

fn items(names: &Names<'_>, items: &[DataItem], out: &mut Vec<u8>) {
    // The width of the numbers on the line that is still open, and how many they are.
    let mut open: Option<(Width, usize)> = None;
    for item in items {
        let width = match item {
            DataItem::Int(width, _) | DataItem::Address(width, ..) => Some(*width),
            DataItem::Zero(_) | DataItem::String(_) => None,
        };
        match (open, width) {
            (Some((w, n)), Some(width)) if w == width && n < NUMBERS_A_LINE => {
                open = Some((w, n + 1));
                out.push(b',');
            }
            _ => {
                if open.is_some() {
                    out.push(b'\n');
                }
                open = width.map(|w| (w, 1));
                if let Some(width) = width {
                    out.extend_from_slice(directive(width));
                }
            }
        }
        match item {
            DataItem::Zero(count) => sections::zeros(*count, out),
            DataItem::String(text) => {
                out.extend_from_slice(b"\t.ascii \"");
                out.extend_from_slice(text);
                out.extend_from_slice(b"\"\n");
            }
            DataItem::Int(width, value) => match width {
                Width::B => push_unsigned(out, value & 0xff),
                Width::H => push_unsigned(out, value & 0xffff),
                Width::W => push_unsigned(out, value & 0xffff_ffff),
                Width::L => push_signed(out, *value as i64),
            },
            DataItem::Address(_, symbol, offset) => {
                names.push_symbol(out, *symbol);
                push_offset(out, *offset);
            }
        }
    }
    if open.is_some() {
        out.push(b'\n');
    }
}

fn directive(width: Width) -> &'static [u8] {
    match width {
        Width::B => b"\t.byte ",
        Width::H => b"\t.short ",
        Width::W => b"\t.int ",
        Width::L => b"\t.quad ",
    }
}

/// Prints a module in the order of its items; `function` appends the text of a function, or
/// nothing for one that was dropped.
pub fn file(
    target: &Target,
    module: &Module,
    features: &Features,
    described: &[Described],
    out: &mut Vec<u8>,
    mut function: impl FnMut(FunctionId, &mut Vec<u8>),
) {
    (target.preamble)(features, out);
    debug_text::start(&Names { module, target, function: 0 }, described, out);
    let mut announced: IndexVec<FileId, bool> = IndexVec::filled(false, module.files.len());
    for item in &module.items {
        match *item {
            Item::Type(_) => {}
            Item::File(file) => {
                if !std::mem::replace(&mut announced[file], true) {
                    source_file(module, file, out);
                }
            }
            Item::Data(id) => data_of(target, module, id, out),
            Item::Function(id) => function(id, out),
        }
    }
}

fn data_of(target: &Target, module: &Module, id: DataId, out: &mut Vec<u8>) {
    data(target, module, &module.data[id], out);
}

/// Announces a source file to the assembler, under the number that `.loc` uses.
fn source_file(module: &Module, file: FileId, out: &mut Vec<u8>) {
    out.extend_from_slice(b".file ");
    push_unsigned(out, file.index() as u64 + 1);
    out.extend_from_slice(b" \"");
    out.extend_from_slice(&module.files[file]);
    out.extend_from_slice(b"\"\n");
}

/// Prints what stands at the end of a file: literals, debug information, and the mark of a stack that
/// need not be executable.
pub fn finish(
    target: &Target,
    module: &Module,
    mut literals: Literals,
    described: &[Described],
    out: &mut Vec<u8>,
) {
    let names = Names { module, target, function: 0 };
    literals.compact();
    let mut section_of = 0;
    for &(size, bits) in &literals.used {
        if size != section_of {
            section_of = size;
            out.extend_from_slice(sections::literals(target.format, size));
            out.extend_from_slice(b"\n.balign ");
            push_unsigned(out, u64::from(size));
            out.push(b'\n');
        }
        names.push_literal(out, bits, size);
        out.extend_from_slice(if size == 4 { b":\n\t.int " } else { b":\n\t.quad " });
        push_signed(out, if size == 4 { bits as i32 as i64 } else { bits as i64 });
        out.extend_from_slice(if size == 16 { b",0\n" } else { b"\n" });
    }
    for &symbol in &literals.cells {
        sections::reference_cell(&names, symbol, out);
    }
    debug_text::unit(&names, described, out);
    out.extend_from_slice(match target.format {
        ObjectFormat::Elf => b".section .note.GNU-stack,\"\",@progbits\n",
        ObjectFormat::MachO => b".subsections_via_symbols\n",
        ObjectFormat::Coff => b"",
    });
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
