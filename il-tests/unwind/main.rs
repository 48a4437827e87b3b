//! Exceptions of C++ thrown through our frames, and walks over them, on every target whose C++
//! compiler and emulator are here.

#[allow(dead_code, reason = "it serves other tests too")]
#[path = "../toolchain.rs"]
mod toolchain;

use backend::target::by_name;
use backend::{Input, Level, Options, compile};
use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use toolchain::{Scratch, Toolchain, toolchain, works};

const FRAMES: &[u8] = include_bytes!("frames.ssa");
const DRIVER: &str = include_str!("driver.cc");

/// The C++ compiler beside a C compiler.
fn cxx(toolchain: &Toolchain) -> Vec<String> {
    let words = toolchain.cc_command();
    let name = if words[0] == "cc" { "c++".into() } else { words[0].replace("gcc", "g++") };
    std::iter::once(name).chain(words[1..].iter().map(|w| w.to_string())).collect()
}

fn build_and_run(toolchain: &Toolchain, level: Level, max_regs: Option<u32>) {
    let Some(target) = by_name(toolchain.target) else { return };
    let compiler = cxx(toolchain);
    let missing = toolchain.missing().map(String::from);
    if let Some(tool) = missing.or_else(|| (!works(&compiler[0])).then(|| compiler[0].clone())) {
        assert!(std::env::var("CI").is_err(), "{tool} is missing");
        eprintln!("{}: not tested: {tool} is missing", toolchain.target);
        return;
    }
    let mut options = Options::new(target);
    (options.level, options.max_regs, options.verify) = (level, max_regs, true);
    let input = Input { name: "frames.ssa", text: FRAMES };
    let assembly = compile(&[input], &options).expect("it is right").bytes;
    let scratch = Scratch::new().expect("a folder can be made");
    let (source, driver, program) =
        (scratch.path("frames.s"), scratch.path("driver.cc"), scratch.path("program"));
    fs::write(&source, assembly).expect("a file can be written");
    fs::write(&driver, DRIVER).expect("a file can be written");
    let args = [OsStr::new("-O1"), OsStr::new("-o"), program.as_ref(), source.as_ref()];
    let output = Command::new(&compiler[0])
        .args(&compiler[1..])
        .args(args)
        .arg(&driver)
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (status, written) = toolchain.run(&program).expect("the program starts");
    let written = String::from_utf8_lossy(&written);
    let what = format!("{} {level:?} {max_regs:?}", toolchain.target);
    assert_eq!((status, &*written), (0, "ok\n"), "{what}");
}

fn all(target: &str) {
    let toolchain = toolchain(target).expect("it has a row");
    build_and_run(toolchain, Level::O0, None);
    build_and_run(toolchain, Level::O1, None);
    build_and_run(toolchain, Level::O1, Some(toolchain.fewest_registers));
}

#[test]
fn amd64_sysv() {
    all("amd64_sysv");
}

#[test]
fn arm64() {
    all("arm64");
}

#[test]
fn rv64() {
    all("rv64");
}
