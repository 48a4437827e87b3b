//! What cannot be an object; the rest is compared with an assembler by `il-tests/law`.

use super::*;
use crate::parse;

fn module(text: &str) -> Module {
    let mut module = Module::default();
    let options = parse::Options { internal_ops: false };
    parse::parse("test.ssa", text.as_bytes(), &options, &mut module).unwrap();
    module
}

#[test]
fn sections_that_cannot_be() {
    let target = crate::target::TARGETS[0];
    let cases = [
        ("section \"foo\" \"aM\" data $x = { w 1 }", "flag 'M' of section \"foo\" is not known"),
        ("section \".bss.x\" data $x = { w 1 }", "$x is not all zero, as section \".bss.x\" wants"),
        (
            "section \".bss\" function $f() {\n@s\n\tret\n}",
            "$f is not all zero, as section \".bss\" wants",
        ),
        (
            "data $x = { b 1, z 9000000000000000000 }",
            "9000000000000000001 bytes of data are too many for an object file",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(faults(target, &module(&format!("{text}\n"))), [message]);
    }
    let right = "section \".bss.x\" data $x = { z 4 }\nsection \"foo\" \"awx\" data $y = { w 1 }\n\
                 data $z = { z 9000000000000000000 }\n";
    assert_eq!(faults(target, &module(right)), [""; 0]);
}

#[test]
fn names_of_symbols_lose_their_quotes() {
    let mut module = Module::default();
    let names = [&b"plain"[..], b"\"a b\"", b"\"q\\\"u\\\\o\\te\"", b"\"\""];
    let ids = names.map(|name| module.symbols.intern(name));
    let target = crate::target::TARGETS[0];
    let file = File::new(target, &module);
    let found = ids.map(|id| file.name_of(id));
    assert_eq!(found, [&b"plain"[..], b"a b", b"q\"u\\o\\te", b""]);
}
