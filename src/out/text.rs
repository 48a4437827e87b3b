//! Assembly text in the syntax that GNU as and clang share, with QBE's choice of sections and
//! alignment.
//!
//! Functions are printed independently of each other, into buffers of their own, so any thread
//! may print any of them; [`file`] puts them in order among the data, and [`finish`] writes the
//! literals that all of them used.

use crate::index::{Index, IndexVec};
use crate::ir::{
    BlockId, Data, DataId, DataItem, FileId, FunctionId, Item, Linkage, Module, SymbolId, Width,
};
use crate::target::format::{push_offset, push_signed, push_unsigned};
use crate::target::{
    Arg, EmitInput, Instruction, Memory, MemoryBase, Named, Names, ObjectFormat, Sink, Target,
};

/// Numbers of one data item that are put on one line.
const NUMBERS_A_LINE: usize = 16;

/// Constants in read-only data: their sizes in bytes and bits.
#[derive(Clone, Default, Debug)]
pub struct Literals {
    used: Vec<(u8, u64)>,
}

impl Literals {
    fn add(&mut self, bits: u64, size: u8) {
        if self.used.last() != Some(&(size, bits)) {
            self.used.push((size, bits));
        }
    }

    /// Adds those that another thread found.
    pub fn merge(&mut self, other: &Literals) {
        self.used.extend_from_slice(&other.used);
        self.compact();
    }

    /// Sorts, the largest first, and drops those that are there twice.
    fn compact(&mut self) {
        self.used.sort_unstable_by_key(|&(size, bits)| (std::cmp::Reverse(size), bits));
        self.used.dedup();
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
    let sink = &mut TextSink { names, file: f.file, out, literals };
    (target.emit)(input, sink);
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
}

/// Where a definition goes if it names no section.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Section {
    Text,
    Data,
    Zero,
}

/// The section, the alignment, the visibility and the label of a definition.
fn start(
    names: &Names<'_>,
    linkage: &Linkage,
    section: Section,
    align: u64,
    symbol: SymbolId,
    out: &mut Vec<u8>,
) {
    match &linkage.section {
        Some(name) => {
            out.extend_from_slice(b".section \"");
            out.extend_from_slice(name);
            out.push(b'"');
            if let Some(flags) = &linkage.section_flags {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(flags);
                out.push(b'"');
            }
        }
        None => out.extend_from_slice(match (section, linkage.thread) {
            (Section::Text, _) => b".text",
            (Section::Data, false) => b".data",
            (Section::Zero, false) => b".bss",
            (Section::Data, true) => b".section .tdata,\"awT\"",
            (Section::Zero, true) => b".section .tbss,\"awT\"",
        }),
    }
    out.push(b'\n');
    if align > 1 {
        out.extend_from_slice(b".balign ");
        push_unsigned(out, align);
        out.push(b'\n');
    }
    if linkage.export {
        out.extend_from_slice(b".globl ");
        names.push_symbol(out, symbol);
        out.push(b'\n');
    }
    names.push_symbol(out, symbol);
    out.extend_from_slice(b":\n");
}

/// Prints one data object.
pub fn data(target: &Target, module: &Module, data: &Data, out: &mut Vec<u8>) {
    let names = Names { module, target, function: 0 };
    let zero = data.items.iter().try_fold(0u64, |sum, item| match item {
        DataItem::Zero(n) => Some(sum + n),
        DataItem::Int(..) | DataItem::String(_) | DataItem::Address(..) => None,
    });
    match zero {
        // No assembler has a common thread-local object under a name that others share; as any
        // other it can be defined only once.
        Some(size) if data.linkage.common && !data.linkage.thread => {
            out.extend_from_slice(b".comm ");
            names.push_symbol(out, data.symbol);
            out.push(b',');
            push_unsigned(out, size);
            out.push(b',');
            push_unsigned(out, data.align.max(1));
            out.push(b'\n');
        }
        Some(size) => {
            start(&names, &data.linkage, Section::Zero, data.align, data.symbol, out);
            zeros(size, out);
        }
        None => {
            start(&names, &data.linkage, Section::Data, data.align, data.symbol, out);
            items(&names, &data.items, out);
        }
    }
}

fn zeros(count: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\t.zero ");
    push_unsigned(out, count);
    out.push(b'\n');
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
            DataItem::Zero(count) => zeros(*count, out),
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
    out: &mut Vec<u8>,
    mut function: impl FnMut(FunctionId, &mut Vec<u8>),
) {
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

/// Prints what stands at the end of a file: literals, and the mark of a stack that need not be
/// executable.
pub fn finish(target: &Target, module: &Module, mut literals: Literals, out: &mut Vec<u8>) {
    let names = Names { module, target, function: 0 };
    literals.compact();
    let mut section_of = 0;
    for &(size, bits) in &literals.used {
        if size != section_of {
            section_of = size;
            out.extend_from_slice(literal_section(target.format, size));
            out.extend_from_slice(b"\n.balign ");
            push_unsigned(out, u64::from(size));
            out.push(b'\n');
        }
        names.push_literal(out, bits, size);
        out.extend_from_slice(if size == 4 { b":\n\t.int " } else { b":\n\t.quad " });
        push_signed(out, if size == 4 { bits as i32 as i64 } else { bits as i64 });
        out.extend_from_slice(if size == 16 { b",0\n" } else { b"\n" });
    }
    if target.format == ObjectFormat::Elf {
        out.extend_from_slice(b".section .note.GNU-stack,\"\",@progbits\n");
    }
}

fn literal_section(format: ObjectFormat, size: u8) -> &'static [u8] {
    match (format, size) {
        (ObjectFormat::Elf | ObjectFormat::Coff, _) => b".section .rodata",
        (ObjectFormat::MachO, 4) => b".section __TEXT,__literal4,4byte_literals",
        (ObjectFormat::MachO, 8) => b".section __TEXT,__literal8,8byte_literals",
        (ObjectFormat::MachO, _) => b".section __TEXT,__literal16,16byte_literals",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Access, Function};
    use crate::target::machine::{Allocation, MFunction, Registers};
    use crate::target::{Features, Layout};
    use pretty_assertions::assert_eq;

    static REGISTERS: Registers = Registers {
        int_order: &[],
        float_order: &[],
        caller_saved: crate::target::machine::PRegSet::EMPTY,
        callee_saved: crate::target::machine::PRegSet::EMPTY,
    };

    /// A target whose functions are a location, a block and one instruction.
    fn target(format: ObjectFormat) -> Target {
        Target {
            name: "test",
            format,
            symbol_prefix: if format == ObjectFormat::MachO { "_" } else { "" },
            local_prefix: if format == ObjectFormat::MachO { "L" } else { ".L" },
            registers: &REGISTERS,
            has_select: false,
            function_align: 16,
            select: |_, _, _, _| unreachable!("nothing is selected here"),
            emit: |_, sink| {
                let literal = Memory {
                    base: MemoryBase::Pool(0x3ff0_0000_0000_0000, 8),
                    index: None,
                    scale: 1,
                    disp: 0,
                };
                sink.location(7, 0);
                sink.location(8, 3);
                sink.block(BlockId::new(2));
                sink.instruction(&Instruction {
                    op: 1,
                    size: 8,
                    cond: 0,
                    args: smallvec::smallvec![
                        Arg::Memory(literal),
                        Arg::Symbol(SymbolId::new(0), Access::Direct, 0)
                    ],
                });
            },
            row_name: |_| "",
            print: |_, names, out| {
                out.extend_from_slice(b"load ");
                names.push_literal(out, 0x3ff0_0000_0000_0000, 8);
            },
        }
    }

    fn print(target: &Target, module: &Module) -> String {
        let mut literals = Literals::default();
        let mut out = Vec::new();
        file(target, module, &mut out, |id, out| {
            let code = MFunction {
                symbol: module.functions[id].symbol,
                blocks: IndexVec::new(),
                vregs: IndexVec::new(),
                operands: Vec::new(),
                addresses: IndexVec::new(),
                clobbers: Vec::new(),
                slots: IndexVec::new(),
                outgoing: 0,
                calls: false,
                dynamic: false,
                reserved: Default::default(),
                returns_twice: false,
                extra: 0,
            };
            let input = EmitInput {
                module,
                function: &module.functions[id],
                code: &code,
                allocation: &Allocation::default(),
                layout: &Layout::default(),
                features: &Features::default(),
                indirect: true,
            };
            function(target, &input, id, out, &mut literals);
        });
        finish(target, module, literals, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn with_data(linkage: Linkage, align: u64, items: Vec<DataItem>) -> Module {
        let mut module = Module::default();
        let symbol = module.symbols.intern(b"x");
        let id = module.data.push(Data { symbol, linkage, align, items });
        module.items.push(Item::Data(id));
        module
    }

    fn data_text(linkage: Linkage, align: u64, items: Vec<DataItem>) -> String {
        let module = with_data(linkage, align, items);
        let mut out = Vec::new();
        file(&target(ObjectFormat::Elf), &module, &mut out, |_, _| {});
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn items_of_every_kind() {
        let mut module = Module::default();
        let x = module.symbols.intern(b"x");
        let quoted = module.symbols.intern(b"\"a b\"");
        let minus_one = u64::MAX;
        let items = vec![
            DataItem::Int(Width::B, minus_one),
            DataItem::Int(Width::B, 1),
            DataItem::Int(Width::H, minus_one),
            DataItem::Int(Width::W, minus_one),
            DataItem::Int(Width::L, minus_one),
            DataItem::Address(Width::L, quoted, 0),
            DataItem::String(b"a\\n\\\"".as_slice().into()),
            DataItem::String(b"".as_slice().into()),
            DataItem::Zero(3),
            DataItem::Address(Width::W, x, -4),
            DataItem::Address(Width::B, x, 4),
        ];
        let linkage = Linkage::default();
        let id = module.data.push(Data { symbol: x, linkage, align: 8, items });
        module.items.push(Item::Data(id));
        let expected = ".data\n.balign 8\nx:\n\t.byte 255,1\n\t.short 65535\n\t.int 4294967295\n\
            \t.quad -1,\"a b\"\n\t.ascii \"a\\n\\\"\"\n\t.ascii \"\"\n\t.zero 3\n\t.int x-4\n\
            \t.byte x+4\n.section .note.GNU-stack,\"\",@progbits\n";
        assert_eq!(print(&target(ObjectFormat::Elf), &module), expected);
    }

    #[test]
    fn long_rows_of_numbers_are_broken() {
        let text = data_text(Linkage::default(), 1, vec![DataItem::Int(Width::W, 5); 33]);
        let line = format!("\t.int {}\n", ["5"; 16].join(","));
        assert_eq!(text, format!(".data\nx:\n{line}{line}\t.int 5\n"));
    }

    #[test]
    fn linkage_chooses_the_section() {
        let zero = || vec![DataItem::Zero(4), DataItem::Zero(4)];
        let number = || vec![DataItem::Int(Width::W, 0)];
        let plain = Linkage::default;
        let export = Linkage { export: true, ..plain() };
        let thread = Linkage { thread: true, ..plain() };
        let common = Linkage { common: true, export: true, ..plain() };
        let named = Linkage { section: Some(b".mine".as_slice().into()), ..plain() };
        let flags = Some(b"aw".as_slice().into());
        let flagged = Linkage { section_flags: flags, ..named.clone() };
        let cases = [
            (plain(), zero(), ".bss\n.balign 4\nx:\n\t.zero 8\n"),
            (plain(), Vec::new(), ".bss\n.balign 4\nx:\n\t.zero 0\n"),
            (plain(), number(), ".data\n.balign 4\nx:\n\t.int 0\n"),
            (export, zero(), ".bss\n.balign 4\n.globl x\nx:\n\t.zero 8\n"),
            (thread.clone(), zero(), ".section .tbss,\"awT\"\n.balign 4\nx:\n\t.zero 8\n"),
            (thread, number(), ".section .tdata,\"awT\"\n.balign 4\nx:\n\t.int 0\n"),
            (common, zero(), ".comm x,8,4\n"),
            (named, zero(), ".section \".mine\"\n.balign 4\nx:\n\t.zero 8\n"),
            (flagged, number(), ".section \".mine\",\"aw\"\n.balign 4\nx:\n\t.int 0\n"),
        ];
        for (linkage, items, expected) in cases {
            assert_eq!(data_text(linkage, 4, items), expected);
        }
    }

    fn with_functions() -> Module {
        let mut module = Module::default();
        let file = module.files.push(b"one.x".as_slice().into());
        for (name, export) in [(b"f".as_slice(), true), (b"\"g h\"", false)] {
            let mut f = Function::new(module.symbols.intern(name));
            f.linkage.export = export;
            f.file = export.then_some(file);
            let id = module.functions.push(f);
            module.items.extend([Item::File(file), Item::Function(id)]);
        }
        module
    }

    #[test]
    fn functions_and_their_literals() {
        let expected = ".file 1 \"one.x\"\n\
            .text\n.balign 16\n.globl f\nf:\n\t.loc 1 7\n\t.loc 1 8 3\n.Lbb0_2:\n\
            \tload .Lfp8_3ff0000000000000\n.type f, @function\n.size f, .-f\n\
            .text\n.balign 16\n\"g h\":\n.Lbb1_2:\n\
            \tload .Lfp8_3ff0000000000000\n.type \"g h\", @function\n.size \"g h\", .-\"g h\"\n\
            .section .rodata\n.balign 8\n.Lfp8_3ff0000000000000:\n\t.quad 4607182418800017408\n\
            .section .note.GNU-stack,\"\",@progbits\n";
        assert_eq!(print(&target(ObjectFormat::Elf), &with_functions()), expected);
    }

    #[test]
    fn mach_o_has_prefixes_and_literal_sections() {
        let text = print(&target(ObjectFormat::MachO), &with_functions());
        assert!(text.contains(".globl _f\n_f:\n"));
        assert!(text.contains("\n\"g h\":\nLbb1_2:\n"));
        assert!(text.ends_with(
            ".section __TEXT,__literal8,8byte_literals\n.balign 8\n\
             Lfp8_3ff0000000000000:\n\t.quad 4607182418800017408\n"
        ));
    }

    #[test]
    fn literals_come_by_size_and_once() {
        let module = Module::default();
        let mut one = Literals::default();
        one.add(1 << 31, 4);
        one.add(1, 8);
        let mut other = Literals::default();
        other.add(1, 8);
        other.add(1 << 63, 16);
        other.add(0, 8);
        one.merge(&other);
        let mut out = Vec::new();
        finish(&target(ObjectFormat::Coff), &module, one, &mut out);
        let expected = ".section .rodata\n.balign 16\n.Lfp16_8000000000000000:\n\
            \t.quad -9223372036854775808,0\n.section .rodata\n.balign 8\n\
            .Lfp8_0000000000000000:\n\t.quad 0\n.Lfp8_0000000000000001:\n\t.quad 1\n\
            .section .rodata\n.balign 4\n.Lfp4_80000000:\n\t.int -2147483648\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
