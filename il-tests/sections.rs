//! A section for every definition: linkers leave out what nothing refers to, and the program runs.
//! In text, and in objects where the target has them.

#[allow(dead_code, reason = "it serves other tests too")]
#[path = "toolchain.rs"]
mod toolchain;

use backend::out::object::can_write;
use backend::target::{ObjectFormat, by_name};
use backend::{Emit, Input, Options, compile};
use object::{Object, ObjectSymbol};
use std::ffi::OsStr;
use std::fs;
use toolchain::{Scratch, toolchain};

const IL: &[u8] = b"
export function w $main() {
@start
	%a =w call $used(w 1)
	%b =w call $\"also used\"(w %a)
	ret %b
}
function w $used(w %a) {
@start
	%b =w loadw $value
	storew %a, $zero
	%c =w loadw thread $own
	storew %c, thread $own_zero
	%d =w loadw $zero
	%e =w loadw thread $own_zero
	%f =w add %b, %d
	%f =w add %f, %e
	ret %f
}
function w $\"also used\"(w %a) {
@start
	%b =w call $used(w %a)
	%c =w add %a, %b
	ret %c
}
function w $never_called() {
@start
	%a =w loadw $never_read
	%b =w loadw $never_written
	%c =w add %a, %b
	ret %c
}
export function w $never_exported() {
@start
	%a =w call $never_called()
	ret %a
}
data $value = { w 5 }
data $zero = { z 400 }
thread data $own = { w 7 }
thread data $own_zero = { z 8 }
data $never_read = { w 5, l $never_called }
export data $never_written = { z 4000 }
";
/// 5 + 1 + 7, and with that for the 1.
const EXIT: i32 = 13 + (5 + 13 + 7);

/// Links a program from such sections, and gives the names that it defines and begin with `never`.
fn left_over(target: &str, split: bool, emit: Emit) -> Option<Vec<String>> {
    let toolchain = toolchain(target).expect("it has a row");
    if let Some(tool) = toolchain.missing() {
        assert!(std::env::var("CI").is_err(), "{tool} is missing");
        eprintln!("{target}: not tested: {tool} is missing");
        return None;
    }
    let target = by_name(target)?;
    if emit == Emit::Object && !can_write(target) {
        return None;
    }
    let mut options = Options::new(target);
    (options.function_sections, options.data_sections) = (split, split);
    options.emit = emit;
    // GNU ld keeps the tables of Windows' unwinder, and what they tell of: gcc's functions too.
    options.unwind = target.format != ObjectFormat::Coff;
    let output = compile(&[Input { name: "program.ssa", text: IL }], &options);
    let scratch = Scratch::new().expect("a folder can be made");
    let ending = if emit == Emit::Object { "o" } else { "s" };
    let (code, program) = (scratch.path(&format!("code.{ending}")), scratch.path("program"));
    fs::write(&code, output.expect("it is right").bytes).expect("a file can be written");
    let args: [&OsStr; 4] =
        ["-Wl,--gc-sections".as_ref(), "-o".as_ref(), program.as_ref(), code.as_ref()];
    toolchain.cc(&args).expect("it links");
    let status = toolchain.run(&program).expect("the program starts").0;
    assert_eq!(status, EXIT, "{}", target.name);
    let linked = fs::read(&program).or_else(|_| fs::read(program.with_extension("exe")));
    let linked = linked.expect("the program can be read");
    let file = object::File::parse(&*linked).expect("it is a program");
    let defined = file.symbols().filter(|s| s.is_definition()).filter_map(|s| s.name().ok());
    Some(defined.filter(|n| n.starts_with("never")).map(String::from).collect())
}

fn check(target: &str) {
    for emit in [Emit::Assembly, Emit::Object] {
        let Some(kept) = left_over(target, false, emit) else { continue };
        assert_eq!(kept.len(), 4, "without the options all stay: {kept:?}");
        let gone = left_over(target, true, emit);
        assert_eq!(gone, Some(Vec::new()), "{target} {emit:?}");
    }
}

#[test]
fn amd64_sysv() {
    check("amd64_sysv");
}

#[test]
fn amd64_win() {
    check("amd64_win");
}

#[test]
fn arm64() {
    check("arm64");
}

#[test]
fn rv64() {
    check("rv64");
}
