use super::*;
use crate::ir::{Function, Linkage};
use crate::target::machine::{Allocation, MFunction, PReg, Registers};
use crate::target::unwind::Unwind;
use crate::target::{Features, Layout};
use pretty_assertions::assert_eq;

static REGISTERS: Registers = Registers {
    int_order: &[],
    float_order: &[],
    caller_saved: crate::target::machine::PRegSet::EMPTY,
    callee_saved: crate::target::machine::PRegSet::EMPTY,
};

static UNWIND: Unwind = Unwind {
    stack_pointer: PReg::int(0),
    frame_pointer: PReg::int(5),
    at_entry: 8,
    number: |r| r.index() as u16,
    return_address: 16,
    name: |_, _| {},
};

/// A target whose functions are a location, a block and an instruction that reads a constant and
/// the cell of the first symbol.
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
                    Arg::Memory(Memory {
                        base: MemoryBase::Symbol(SymbolId::new(0), Access::Extern),
                        ..literal
                    })
                ],
            });
        },
        unwind: &UNWIND,
        keeps_frame_pointer: false,
        features: &[],
        preamble: |_, _| {},
        row_name: |_| "",
        object: None,
        print: |_, names, out| {
            out.extend_from_slice(b"load ");
            names.push_literal(out, 0x3ff0_0000_0000_0000, 8);
        },
    }
}

fn print(target: &Target, module: &Module) -> String {
    let mut literals = Literals::default();
    let mut out = Vec::new();
    file(target, module, &Features::default(), &[], &mut out, |id, out| {
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
            frame_pointer: false,
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
            unwind: false,
            debug: false,
            indirect: true,
        };
        function(target, &input, id, out, &mut literals);
    });
    finish(target, module, literals, &[], &mut out);
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
    data_text_as(ObjectFormat::Elf, linkage, align, items)
}

fn data_text_as(
    format: ObjectFormat,
    linkage: Linkage,
    align: u64,
    items: Vec<DataItem>,
) -> String {
    let module = with_data(linkage, align, items);
    let mut out = Vec::new();
    file(&target(format), &module, &Features::default(), &[], &mut out, |_, _| {});
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
fn linkage_on_mach_o() {
    let zero = || vec![DataItem::Zero(8)];
    let number = || vec![DataItem::Int(Width::W, 0)];
    let plain = Linkage::default;
    let text = |bytes: &[u8]| Some(Box::from(bytes));
    let export = Linkage { export: true, ..plain() };
    let thread = Linkage { thread: true, ..export.clone() };
    let common = Linkage { common: true, export: true, ..plain() };
    let named = Linkage { section: text(b"mine"), ..plain() };
    let whole = Linkage { section: text(b"__DATA,__mine,regular"), ..plain() };
    let flagged = Linkage { section_flags: text(b"__mine"), section: text(b"__X"), ..plain() };
    let variable = ".section __DATA,__thread_vars,thread_local_variables\n.globl _x\n_x:\n\
        \t.quad __tlv_bootstrap,0,_x$tlv$init\n";
    let cases = [
        (plain(), zero(), ".zerofill __DATA,__bss,_x,8,3\n".into()),
        (plain(), Vec::new(), ".zerofill __DATA,__bss,_x,0,3\n".into()),
        (export, zero(), ".globl _x\n.zerofill __DATA,__bss,_x,8,3\n".into()),
        (plain(), number(), ".data\n.balign 8\n_x:\n\t.int 0\n".into()),
        (thread.clone(), zero(), format!("{variable}.tbss _x$tlv$init,8,3\n")),
        (
            thread,
            number(),
            format!(
                "{variable}.section __DATA,__thread_data,thread_local_regular\n.balign 8\n\
                 _x$tlv$init:\n\t.int 0\n"
            ),
        ),
        (common.clone(), zero(), ".comm _x,8,3\n".into()),
        (common, Vec::new(), ".comm _x,1,3\n".into()),
        (
            named,
            zero(),
            ".section __DATA,mine\n.balign 8\n.no_dead_strip _x\n_x:\n\t.zero 8\n".into(),
        ),
        (
            whole,
            number(),
            ".section __DATA,__mine,regular\n.balign 8\n.no_dead_strip _x\n_x:\n\t.int 0\n".into(),
        ),
        (
            flagged,
            number(),
            ".section __X,__mine\n.balign 8\n.no_dead_strip _x\n_x:\n\t.int 0\n".into(),
        ),
    ];
    for (linkage, items, expected) in cases {
        assert_eq!(data_text_as(ObjectFormat::MachO, linkage, 8, items), expected);
    }
}

#[test]
fn code_in_sections_of_mach_o() {
    let mut module = with_functions();
    let text = |bytes: &[u8]| Some(Box::from(bytes));
    let cases: [(&[u8], _, _); 4] = [
        (b"mine", None, "__TEXT,mine,regular,pure_instructions"),
        (b"__X,mine", None, "__X,mine,regular,pure_instructions"),
        (b"__X", text(b"mine"), "__X,mine,regular,pure_instructions"),
        (b"__X", text(b"mine,regular"), "__X,mine,regular"),
    ];
    for (section, section_flags, expected) in cases {
        let linkage = &mut module.functions[FunctionId::new(0)].linkage;
        linkage.section = text(section);
        linkage.section_flags = section_flags;
        let text = print(&target(ObjectFormat::MachO), &module);
        assert!(text.contains(&format!("\n.section {expected}\n.balign 16\n.globl _f\n")));
    }
}

#[test]
fn linkage_on_coff() {
    let zero = || vec![DataItem::Zero(8)];
    let number = || vec![DataItem::Int(Width::W, 0)];
    let plain = Linkage::default;
    let export = Linkage { export: true, ..plain() };
    let thread = Linkage { thread: true, ..plain() };
    let common = Linkage { common: true, export: true, ..plain() };
    let named = Linkage { section: Some(Box::from(&b".mine"[..])), ..plain() };
    let cases = [
        (export, zero(), ".bss\n.balign 8\n.globl x\nx:\n\t.zero 8\n"),
        (thread.clone(), zero(), ".section .tls$,\"dw\"\n.balign 8\nx:\n\t.zero 8\n"),
        (thread, number(), ".section .tls$,\"dw\"\n.balign 8\nx:\n\t.int 0\n"),
        (common.clone(), zero(), ".comm x,8,3\n"),
        (common, Vec::new(), ".comm x,1,3\n"),
        (named, zero(), ".section \".mine\"\n.balign 8\nx:\n\t.zero 8\n"),
    ];
    for (linkage, items, expected) in cases {
        assert_eq!(data_text_as(ObjectFormat::Coff, linkage, 8, items), expected);
    }
}

#[test]
fn functions_on_mach_o() {
    let expected = ".file 1 \"one.x\"\n\
        .text\n.balign 16\n.globl _f\n_f:\n\t.loc 1 7\n\t.loc 1 8 3\nLbb0_2:\n\
        \tload Lfp8_3ff0000000000000\n\
        .text\n.balign 16\n\"g h\":\nLbb1_2:\n\
        \tload Lfp8_3ff0000000000000\n\
        .section __TEXT,__literal8,8byte_literals\n.balign 8\n\
        Lfp8_3ff0000000000000:\n\t.quad 4607182418800017408\n\
        .subsections_via_symbols\n";
    assert_eq!(print(&target(ObjectFormat::MachO), &with_functions()), expected);
}

#[test]
fn functions_and_cells_on_coff() {
    let mut module = with_functions();
    module.functions[FunctionId::new(1)].linkage.section = Some(Box::from(&b"own"[..]));
    let expected = ".file 1 \"one.x\"\n\
        .text\n.balign 16\n.globl f\n.def f; .scl 2; .type 32; .endef\nf:\n\
        \t.loc 1 7\n\t.loc 1 8 3\n.Lbb0_2:\n\
        \tload .Lfp8_3ff0000000000000\n\
        .section \"own\",\"xr\"\n.balign 16\n.def \"g h\"; .scl 3; .type 32; .endef\n\
        \"g h\":\n.Lbb1_2:\n\
        \tload .Lfp8_3ff0000000000000\n\
        .section .rdata,\"dr\"\n.balign 8\n\
        .Lfp8_3ff0000000000000:\n\t.quad 4607182418800017408\n\
        .section .rdata$.refptr.f,\"dr\"\n.globl .refptr.f\n.linkonce discard\n.balign 8\n\
        .refptr.f:\n\t.quad f\n";
    assert_eq!(print(&target(ObjectFormat::Coff), &module), expected);
}

#[test]
fn names_in_quotes_are_extended_inside_them() {
    let mut module = Module::default();
    let symbol = module.symbols.intern(b"\"a b\"");
    let target = target(ObjectFormat::Coff);
    let names = Names { module: &module, target: &target, function: 0 };
    let mut out = Vec::new();
    sections::reference_cell(&names, symbol, &mut out);
    let expected = ".section \".rdata$.refptr.a b\",\"dr\"\n.globl \".refptr.a b\"\n\
        .linkonce discard\n.balign 8\n\".refptr.a b\":\n\t.quad \"a b\"\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
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
    finish(&target(ObjectFormat::Coff), &module, one, &[], &mut out);
    let expected = ".section .rdata,\"dr\"\n.balign 16\n.Lfp16_8000000000000000:\n\
        \t.quad -9223372036854775808,0\n.section .rdata,\"dr\"\n.balign 8\n\
        .Lfp8_0000000000000000:\n\t.quad 0\n.Lfp8_0000000000000001:\n\t.quad 1\n\
        .section .rdata,\"dr\"\n.balign 4\n.Lfp4_80000000:\n\t.int -2147483648\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
