use super::{Options, parse};
use crate::error::Error;
use crate::index::Index;
use crate::ir::check::{Stage, check};
use crate::ir::print::print_module;
use crate::ir::{Class, DataItem, Jump, Module, Width};
use pretty_assertions::assert_eq;

fn module(text: &str) -> Module {
    let mut module = Module::default();
    parse("-", text.as_bytes(), &Options::default(), &mut module).expect("valid input");
    for f in module.functions.iter() {
        check(&module, f, Stage::Parsed).expect("a sound function");
    }
    module
}

fn errors(text: &str) -> Vec<String> {
    let mut module = Module::default();
    match parse("-", text.as_bytes(), &Options::default(), &mut module) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.iter().map(Error::to_string).collect(),
    }
}

fn printed(text: &str) -> String {
    String::from_utf8(print_module(&module(text))).expect("no other bytes came in")
}

/// Printing is a fixed point after one round.
fn round_trip(text: &str) -> String {
    let once = printed(text);
    assert_eq!(printed(&once), once);
    once
}

#[test]
fn data_items() {
    let m = module(
        "section \"a\" \"b\" export thread export\ndata $x = align 2 { b 1 -1 \"q\\\"\", h $y+3 $y + -3,\n \
         z 3 4, s s_1 1, d d_1, l 18446744073709551615, }",
    );
    let data = m.data.iter().next().expect("one");
    let y = m.symbols.find(b"y").expect("it is used");
    assert!(data.linkage.export && data.linkage.thread);
    assert_eq!(data.linkage.section.as_deref(), Some(&b"a"[..]));
    assert_eq!(
        data.items,
        [
            DataItem::Int(Width::B, 1),
            DataItem::Int(Width::B, 255),
            DataItem::String(b"q\\\"".as_slice().into()),
            DataItem::Address(Width::H, y, 3),
            DataItem::Address(Width::H, y, -3),
            DataItem::Zero(3),
            DataItem::Zero(4),
            DataItem::Int(Width::W, 0x3f80_0000),
            DataItem::Int(Width::W, 1),
            DataItem::Int(Width::L, 0x3ff0_0000_0000_0000),
            DataItem::Int(Width::L, u64::MAX),
        ]
    );
}

#[test]
fn layouts() {
    let sizes = |text: &str| {
        let m = module(text);
        m.types.iter().map(|ty| (ty.size, ty.align)).collect::<Vec<_>>()
    };
    assert_eq!(sizes("type :a = { b, w 3, h }"), [(20, 4)]);
    assert_eq!(sizes("type :t = { }\ntype :u = align 16 { b }"), [(0, 1), (16, 16)]);
    assert_eq!(sizes("type :t = align 16 { 24 }\ntype :u = { b, :t 2 }"), [(24, 16), (64, 16)]);
    assert_eq!(sizes("type :t = { { b 9 } { l } }"), [(16, 8)]);
    assert_eq!(sizes("type :t = align 1 { l, b, }\ntype :u = { b, l 0 }"), [(16, 8), (8, 8)]);
}

#[test]
fn spellings_of_loads_and_allocations() {
    let text = "function $f(l %p) {\n@a\n\t%a =w load %p\n\t%b =l load %p\n\t%c =s load %p\n\
                \t%d =d load %p\n\t%e =w loadl %p\n\t%f =l loadw %p\n\t%g =l alloc1 1\n\tret\n}\n";
    let printed = round_trip(text);
    let ops: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once(" =")?.1.split(' ').nth(1)).collect();
    assert_eq!(ops, ["loadsw", "loadl", "loads", "loadd", "loadsw", "loadsw", "alloc4"]);
}

#[test]
fn a_whole_function_round_trips() {
    let text = "type :t = align 4 { w 2 }\ndbgfile \"a.c\"\nsection \".x\" \"ax\"\nexport function :t \
                $f(env %e, :t %s, sb %b, ...) {\n@a\n\tdbgloc 3\n\tdbgloc 3, 4\n\tblit %s, %e, 8\n\
                \tvolatile storew s_1.5, $g+8\n\t%v =l volatile loadl extern thread $h-8\n\
                \t%r =:t call extern $k(env %v, :t %s, uh %b, ..., d d_-1e-30)\n\tcall %v(w 1, \
                ...)\n\tjnz %v, @b, @c\n@b\n\thlt\n@c\n\t%x =d phi @a d_inf\n\tret %r\n}\n";
    assert_eq!(round_trip(text), text);
}

#[test]
fn spacing_is_free() {
    let text = "export\nfunction w $f(w%a,)\n\n{@a\n#c\n@b\t# d\r\n\t%x=w add%a,1#e\n\tret%x\n}data\
                \n$x\n=\nalign\n8\n{\nw\n1\n2\n,\n}type:t={w}";
    assert_eq!(
        round_trip(text),
        "export function w $f(w %a) {\n@a\n\tjmp @b\n@b\n\t%x =w add %a, 1\n\tret %x\n}\ndata $x = \
         { w 1 2 }\ntype :t = align 4 { w }\n"
    );
}

#[test]
fn one_temporary_as_word_and_long() {
    let text = "function w $f(l %x) {\n@a\n\t%y =w add %x, 1\n\t%x =w copy %y\n\t%x =l copy 5\n\
                \tret %x\n}\n";
    assert_eq!(
        round_trip(text),
        "function w $f(l %x.1) {\n@a\n\t%x =w copy %x.1\n\t%y =w add %x, 1\n\t%x =w copy %y\n\
         \t%x.2 =l copy 5\n\t%x =w copy %x.2\n\tret %x\n}\n"
    );
}

#[test]
fn returns_without_a_value() {
    // The end of the function is not reached, or a call might not come back.
    assert_eq!(errors("function w $f() {\n@a\n\tret 1\n@b\n\tret\n}\n"), [""; 0]);
    assert_eq!(errors("function w $f() {\n@a\n\tcall $g()\n\tret\n}\n"), [""; 0]);
    let m = module("function w $f() {\n@a\n\tcall $g()\n\tret\n}\n");
    let f = &m.functions[Index::new(0)];
    assert!(matches!(f.blocks[f.entry()].jump, Jump::Ret(r) if f.bits_as(r, Class::W) == Some(0)));
}

#[test]
fn several_inputs_share_symbols_but_not_types() {
    let mut m = Module::default();
    let options = Options::default();
    let one = b"type :t = { w }\ncommon data $c = { z 4 }\nfunction $f(:t %x) {\n@a\n\tret\n}";
    let two =
        b"type :t = { l }\ncommon data $c = align 16 { z 8 }\nfunction $g(:t %x) {\n@a\n\tret\n}";
    parse("one", one, &options, &mut m).expect("valid");
    parse("two", two, &options, &mut m).expect("valid");
    assert_eq!(
        String::from_utf8_lossy(&print_module(&m)),
        "type :t = align 4 { w }\ncommon data $c = align 16 { z 8 }\nfunction $f(:t %x) {\n@a\n\
         \tret\n}\ntype :t.2 = align 8 { l }\nfunction $g(:t.2 %x) {\n@a\n\tret\n}\n"
    );
    let again = parse("three", b"data $f = { w 1 }", &options, &mut m).expect_err("a clash");
    assert_eq!(again[0].to_string(), "three:1:6: error: $f is defined twice");
}

#[test]
fn bytes_that_are_no_text() {
    let text = b"# \xff\x00\xfe\ndata $\"\xff\" = { b \"\x80\x00\\n\" }\n";
    let mut m = Module::default();
    parse("-", text, &Options::default(), &mut m).expect("valid");
    assert_eq!(print_module(&m), b"data $\"\xff\" = { b \"\x80\x00\\n\" }\n");
}

#[test]
fn nothing_much_is_fine() {
    for text in ["", "\n", "#", "# only a comment", "\r\n\r\n", "dbgfile \"x\""] {
        assert_eq!(errors(text), [""; 0], "{text:?}");
    }
}

#[test]
fn errors_keep_their_line() {
    let mut m = Module::default();
    let found = parse("f", b"\ndata $x = { w }\r\n", &Options::default(), &mut m);
    let error = &found.expect_err("no constant")[0];
    assert_eq!((error.line, error.column, error.source_line.as_str()), (2, 15, "data $x = { w }"));
}

#[test]
fn deep_nesting_is_an_error() {
    let text = format!("type :t = {}", "{".repeat(200_000));
    assert_eq!(errors(&text).len(), 1);
}
