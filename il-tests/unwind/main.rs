//! Exceptions of C++ thrown through our frames, and walks over them by tables and by frame pointers,
//! on every target whose C++ compiler and emulator are here.

#[allow(dead_code, reason = "it serves other tests too")]
#[path = "../toolchain.rs"]
mod toolchain;

use backend::target::by_name;
use backend::{Input, Level, Options, compile};
use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use toolchain::{Scratch, Toolchain, toolchain, works};

/// C++ that throws through what `frames.ssa` defines, and walks it by the tables.
const THROW: Program = Program {
    il: include_bytes!("frames.ssa"),
    driver: include_str!("driver.cc"),
    ending: "cc",
    flags: &["-O1"],
};

/// C that follows the frame pointers through what `walk.ssa` defines.
const WALK: Program = Program {
    il: include_bytes!("walk.ssa"),
    driver: include_str!("walk.c"),
    ending: "c",
    flags: &["-O1", "-fno-omit-frame-pointer"],
};

struct Program {
    il: &'static [u8],
    driver: &'static str,
    ending: &'static str,
    flags: &'static [&'static str],
}

/// The C++ compiler beside a C compiler.
fn cxx(toolchain: &Toolchain) -> Vec<String> {
    let words = toolchain.cc_command();
    let name = if words[0] == "cc" { "c++".into() } else { words[0].replace("gcc", "g++") };
    std::iter::once(name).chain(words[1..].iter().map(|w| w.to_string())).collect()
}

/// Whether the tools for a target are there; both compilers are in any case where the first is.
fn is_here(toolchain: &Toolchain) -> bool {
    let compiler = cxx(toolchain).swap_remove(0);
    let missing = toolchain.missing().map(String::from);
    let missing = missing.or_else(|| (!works(&compiler)).then_some(compiler));
    if let Some(tool) = &missing {
        assert!(std::env::var("CI").is_err(), "{tool} is missing");
        eprintln!("{}: not tested: {tool} is missing", toolchain.target);
    }
    missing.is_none()
}

fn build_and_run(toolchain: &Toolchain, program: &Program, options: &Options) {
    let input = Input { name: "program.ssa", text: program.il };
    let assembly = compile(&[input], options).expect("it is right").bytes;
    let scratch = Scratch::new().expect("a folder can be made");
    let (source, driver, executable) = (
        scratch.path("program.s"),
        scratch.path(&format!("driver.{}", program.ending)),
        scratch.path("program"),
    );
    fs::write(&source, assembly).expect("a file can be written");
    fs::write(&driver, program.driver).expect("a file can be written");
    let compiler = match program.ending {
        "c" => toolchain.cc_command().into_iter().map(String::from).collect(),
        _ => cxx(toolchain),
    };
    let args = [OsStr::new("-o"), executable.as_ref(), source.as_ref(), driver.as_ref()];
    let output = Command::new(&compiler[0])
        .args(&compiler[1..])
        .args(program.flags)
        .args(args)
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (status, written) = toolchain.run(&executable).expect("the program starts");
    let written = String::from_utf8_lossy(&written);
    let what = format!(
        "{} {:?} {:?} frame pointer: {}",
        toolchain.target, options.level, options.max_regs, options.frame_pointer
    );
    assert_eq!((status, &*written), (0, "ok\n"), "{what}");
}

fn all(target: &str) {
    let toolchain = toolchain(target).expect("it has a row");
    let few = Some(toolchain.fewest_registers);
    let here = is_here(toolchain);
    let Some(target) = by_name(target).filter(|_| here) else { return };
    let mut options = Options::new(target);
    options.verify = true;
    for (level, max_regs) in [(Level::O0, None), (Level::O1, None), (Level::O1, few)] {
        (options.level, options.max_regs) = (level, max_regs);
        options.frame_pointer = false;
        build_and_run(toolchain, &THROW, &options);
        options.frame_pointer = true;
        build_and_run(toolchain, &THROW, &options);
        build_and_run(toolchain, &WALK, &options);
    }
}

#[test]
fn amd64_sysv() {
    all("amd64_sysv");
}

#[test]
fn amd64_win() {
    all("amd64_win");
}

#[test]
fn arm64() {
    all("arm64");
}

#[test]
fn rv64() {
    all("rv64");
}
