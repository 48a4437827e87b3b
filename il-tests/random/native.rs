//! Runs modules as machine code, many in one program, and compares what they print with what the
//! interpreter says.

use super::check::{Variant, assembly, limits, parse_text};
use super::generate::{self, Options};
use super::toolchain::{Toolchain, toolchain};
use backend::interp::{End, Outcome, Undefined, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// From IL to assembly, or to what is wrong.
type Compile<'a> = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, String> + 'a>;

/// A way to make assembly of IL.
pub struct Build<'a> {
    pub name: String,
    pub compile: Compile<'a>,
    /// Where its files go.
    pub directory: PathBuf,
    /// What builds and runs the assembly.
    pub toolchain: &'static Toolchain,
}

impl Build<'_> {
    /// The library of this crate.
    pub fn ours(variant: Variant, directory: &Path) -> Build<'static> {
        Build {
            name: format!("native {variant:?}"),
            compile: Box::new(move |text| assembly(text, variant)),
            directory: directory.to_owned(),
            toolchain: toolchain(variant.target).expect("the target has a row"),
        }
    }

    /// A program that takes QBE's arguments.
    pub fn program(program: &str, target: &'static str, directory: &Path) -> Build<'static> {
        let (command, place) = (program.to_owned(), directory.to_owned());
        let compile = move |text: &[u8]| {
            let source = place.join("peer.ssa");
            std::fs::write(&source, text).map_err(|e| e.to_string())?;
            let done = Command::new(&command).args(["-t", target]).arg(&source).output();
            let done = done.map_err(|e| e.to_string())?;
            match done.status.success() {
                true => Ok(done.stdout),
                false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
            }
        };
        Build {
            name: program.to_owned(),
            compile: Box::new(compile),
            directory: directory.to_owned(),
            toolchain: toolchain(target).expect("the target has a row"),
        }
    }
}

/// What is wrong, and the seed of the module at fault.
pub struct Fault {
    pub seed: u64,
    pub message: String,
}

/// The text of one program that runs the modules of all seeds, with a line before each.
pub fn program(seeds: &[u64], options: Options) -> String {
    let mut text = String::new();
    let mut main = String::from("export function w $main() {\n@start\n");
    for &seed in seeds {
        let prefix = format!("p{seed}_");
        text.push_str(&generate::module(seed, &prefix, options));
        main.push_str(&format!(
            "\tcall $printf(l $seed, ..., l {seed})\n\tcall ${prefix}main()\n\tcall $fflush(l 0)\n"
        ));
    }
    text.push_str("data $seed = { b \"seed %lld\\n\", b 0 }\n");
    text + &main + "\tret 0\n}\n"
}

/// Compiles and runs the modules of the seeds as one program; the first fault.
pub fn compare(seeds: &[u64], options: Options, build: &Build<'_>) -> Result<(), Fault> {
    let blame = |seed: u64| {
        move |message: String| Fault { seed, message: format!("{}: {message}", build.name) }
    };
    let module = parse_text(program(seeds, options).as_bytes()).map_err(blame(seeds[0]))?;
    // What the interpreter has no answer for may loop or crash.
    let expected: Vec<(u64, Outcome)> = seeds
        .iter()
        .map(|&seed| {
            let entry = format!("p{seed}_main");
            (seed, run(&module, &entry, &[], &limits(Undefined::Track)))
        })
        .filter(|(_, outcome)| matches!(outcome.end, End::Returned(_)))
        .collect();
    let kept: Vec<u64> = expected.iter().map(|&(seed, _)| seed).collect();
    let Some(&first) = kept.first() else { return Ok(()) };
    let output = run_text(program(&kept, options).as_bytes(), build).map_err(blame(first))?;
    let mut rest = &output[..];
    for (seed, outcome) in &expected {
        let head = format!("seed {seed}\n");
        let Some(tail) = rest.strip_prefix(head.as_bytes()) else {
            return Err(blame(*seed)("the program ended before".into()));
        };
        let text = &tail[..outcome.output.len().min(tail.len())];
        if !outcome.prints(text) {
            return Err(blame(*seed)(difference(outcome, text)));
        }
        rest = &tail[text.len()..];
    }
    Ok(())
}

/// The lines that differ.
pub fn difference(expected: &Outcome, text: &[u8]) -> String {
    let lines = |bytes: &[u8]| {
        bytes.split(|&b| b == b'\n').map(|l| String::from_utf8_lossy(l).into_owned()).collect()
    };
    let (a, b): (Vec<String>, Vec<String>) = (lines(&expected.output), lines(text));
    let mut message = String::new();
    for (i, a) in a.iter().enumerate() {
        let b = b.get(i).map_or("nothing", |b| b);
        if a != b {
            message += &format!("line {}: expected {a}, found {b}\n", i + 1);
        }
    }
    message
}

/// What a program prints, however it ends.
pub fn run_text(text: &[u8], build: &Build<'_>) -> Result<Vec<u8>, String> {
    let assembly = (build.compile)(text)?;
    let (source, program) = (build.directory.join("random.s"), build.directory.join("random"));
    std::fs::write(&source, assembly).map_err(|e| e.to_string())?;
    build.toolchain.cc(&["-o".as_ref(), program.as_ref(), source.as_ref()])?;
    Ok(build.toolchain.run(&program)?.1)
}
