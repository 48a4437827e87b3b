//! What the tests of passes share: a function from text, and back.

use crate::ir::check::{Stage, check};
use crate::ir::print::print_function;
use crate::ir::{Function, Module};
use crate::parse::{Options, parse};

/// The one function in `text`, which must be in SSA form, and the module around it.
pub fn read(text: &str) -> (Module, Function) {
    let mut module = Module::default();
    let options = Options { internal_ops: true };
    if let Err(errors) = parse("test", text.as_bytes(), &options, &mut module) {
        panic!("{}", errors[0]);
    }
    let f = module.functions.iter().next().expect("a function").clone();
    (module, f)
}

/// The text of `f` without indentation and jumps to the next line, after a check that it is still
/// in order.
pub fn show(module: &Module, f: &Function) -> String {
    let mut text = Vec::new();
    print_function(module, f, &mut text);
    let text = String::from_utf8(text).expect("text");
    if let Err(fault) = check(module, f, Stage::Ssa) {
        panic!("{fault}\n{text}");
    }
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let falls = |i: usize| lines[i].strip_prefix("jmp ").is_some_and(|to| lines[i + 1] == to);
    let kept = (0..lines.len()).filter(|&i| !falls(i)).map(|i| lines[i]);
    kept.collect::<Vec<_>>().join("\n")
}

/// Asserts that a pass makes `after` of `before`, indentation aside, and then nothing more.
pub fn assert_becomes(before: &str, after: &str, pass: impl Fn(&mut Function) -> bool) {
    let (module, mut f) = read(before);
    let changed = pass(&mut f);
    let got = show(&module, &f);
    let wanted: Vec<&str> = after.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    pretty_assertions::assert_eq!(got, wanted.join("\n"));
    assert_eq!(changed, show(&module, &read(before).1) != got, "what the pass says it did");
    assert!(!pass(&mut f) || got == show(&module, &f), "the pass is not done:\n{got}");
}
