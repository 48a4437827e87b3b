//! The law of two sinks: an assembler makes of our text what we write as an object. Same sections
//! and bytes, same symbols, same relocations; for every il-test, and for every program of the corpus
//! (`BACKEND_CORPUS`, or ../shared/corpus), at every level, also with few registers, a frame pointer
//! and a section for every definition.
//!
//! Not compared: padding of sections that nobody fills, `_GLOBAL_OFFSET_TABLE_` (see
//! `out/object.rs`), and tables of lines and frames by bytes.

#[path = "../case.rs"]
#[allow(dead_code)]
mod case;
#[path = "contents.rs"]
mod contents;
#[path = "../generated.rs"]
#[allow(dead_code)]
mod generated;

use backend::{Emit, Input, Level, Options, target};
use case::Case;
use contents::Contents;
use generated::GENERATED;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A target and its assembler.
struct Assembler {
    target: &'static str,
    /// The folder of the corpus.
    folder: &'static str,
    command: &'static [&'static str],
    fewest_registers: u32,
}

const ASSEMBLERS: &[Assembler] = &[Assembler {
    target: "amd64_sysv",
    folder: "amd64",
    command: &["x86_64-linux-gnu-as", "--64"],
    fewest_registers: 4,
}];

/// What was compared and what differed.
#[derive(Default)]
struct Count {
    objects: usize,
    functions: usize,
    bytes: u64,
    faults: Vec<String>,
}

impl Count {
    fn report(&self, what: &str) {
        println!(
            "{what}: {} objects, {} functions, {} bytes; {} differences",
            self.objects,
            self.functions,
            self.bytes,
            self.faults.len()
        );
        let shown: Vec<&str> = self.faults.iter().take(20).map(String::as_str).collect();
        assert!(self.faults.is_empty(), "\n{}", shown.join("\n"));
    }
}

impl Assembler {
    fn is_missing(&self) -> bool {
        let mut command = Command::new(self.command[0]);
        let there = command.arg("--version").stdout(Stdio::null()).status();
        let missing = !there.is_ok_and(|s| s.success());
        assert!(!missing || std::env::var("CI").is_err(), "{} is missing", self.command[0]);
        if missing {
            println!("{} is missing", self.command[0]);
        }
        missing
    }

    fn assemble(&self, text: &Path, object: &Path) -> Result<Vec<u8>, String> {
        let mut command = Command::new(self.command[0]);
        command.args(&self.command[1..]).arg("-o").arg(object).arg(text);
        let output = command.output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        std::fs::read(object).map_err(|e| e.to_string())
    }

    /// Compares the two ways from one text.
    fn compare(&self, name: &str, text: &[u8], internal: bool, count: &mut Count) {
        let mut before = None;
        for (level, registers) in
            [(Level::O1, None), (Level::O1, Some(self.fewest_registers)), (Level::O0, None)]
        {
            let mut options = Options::new(target::by_name(self.target).expect("a target"));
            options.level = level;
            options.max_regs = registers;
            let other = registers.is_some();
            (options.function_sections, options.data_sections) = (other, other);
            options.frame_pointer = other;
            options.internal_ops = internal;
            options.threads = 1;
            let mut compile = |emit| {
                options.emit = emit;
                let output = backend::compile(&[Input { name, text }], &options);
                output.expect("the input is right").bytes
            };
            let text = compile(Emit::Assembly);
            if before.as_ref() == Some(&text) {
                continue;
            }
            let ours = compile(Emit::Object);
            count.objects += 1;
            if let Err(fault) = self.check(&text, &ours, count) {
                count.faults.push(format!("{name} {level:?} {registers:?}: {fault}"));
            }
            before = Some(text);
        }
    }

    fn check(&self, text: &[u8], ours: &[u8], count: &mut Count) -> Result<(), String> {
        let stem = format!("law-{}-{:?}", std::process::id(), std::thread::current().id());
        let stem = Path::new(env!("CARGO_TARGET_TMPDIR")).join(stem);
        let (source, object) = (stem.with_extension("s"), stem.with_extension("o"));
        std::fs::write(&source, text).map_err(|e| e.to_string())?;
        let theirs = self.assemble(&source, &object);
        for file in [source, object] {
            // A file left behind harms nobody.
            let _ = std::fs::remove_file(file);
        }
        let (ours, theirs) = (Contents::read(ours)?, Contents::read(&theirs?)?);
        count.functions += ours.functions();
        count.bytes += ours.bytes();
        ours.compare(&theirs)
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension() == Some(OsStr::new("ssa")) {
            files.push(path);
        }
    }
    files.sort();
}

#[test]
fn il_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("il-tests");
    let mut files = Vec::new();
    collect(&root, &mut files);
    for assembler in ASSEMBLERS.iter().filter(|a| !a.is_missing()) {
        let mut count = Count::default();
        for file in &files {
            let case = Case::read(&root, file).expect("the test can be read");
            if !case.skips(assembler.target) {
                assembler.compare(&case.name, &case.text, case.internal, &mut count);
            }
        }
        count.report(&format!("{} il-tests", assembler.target));
    }
}

#[test]
fn generated() {
    for assembler in ASSEMBLERS.iter().filter(|a| !a.is_missing()) {
        let mut count = Count::default();
        for shape in GENERATED {
            assembler.compare(shape.name, &shape.text(), false, &mut count);
        }
        count.report(&format!("{} generated", assembler.target));
    }
}

#[test]
fn corpus() {
    let near = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let corpus = std::env::var_os("BACKEND_CORPUS").map_or(near, PathBuf::from);
    if !corpus.is_dir() {
        println!("no corpus at {}: set BACKEND_CORPUS", corpus.display());
        return;
    }
    for assembler in ASSEMBLERS.iter().filter(|a| !a.is_missing()) {
        let mut files = Vec::new();
        collect(&Path::new(&corpus).join(assembler.folder), &mut files);
        let mut count = Count::default();
        for file in &files {
            let text = std::fs::read(file).expect("a file can be read");
            assembler.compare(&file.to_string_lossy(), &text, false, &mut count);
        }
        count.report(&format!("{} corpus", assembler.target));
    }
}
