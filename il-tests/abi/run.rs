//! Builds programs of many signatures, runs them, and finds the signatures at fault.

use super::c::{self, Dialect};
use super::il::{self, List};
use super::macho;
use super::signature::{Limits, Signature};
use super::toolchain::Toolchain;
use backend::{Input, Level, Options, compile, target};
use std::ffi::OsStr;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is special about calls on a target.
pub struct Callee {
    pub target: &'static str,
    pub dialect: Dialect,
    pub list: List,
    pub limits: Limits,
}

const AMD64: &str = "leaq TARGET(%rip), %r11\\n\\tjmp THROUGH\\n";
const ARM64: &str = "adrp x16, TARGET\\n\\tadd x16, x16, :lo12:TARGET\\n\\tb THROUGH\\n";
const RV64: &str = "la t0, TARGET\\n\\tla t1, THROUGH\\n\\tjr t1\\n";

const ALL: Limits = Limits { empty: true, wide_in_lists: |_| true, narrow_before_dots: true };

/// The targets whose calls are tested. What the C compilers get wrong is left out.
pub const CALLEES: &[Callee] = &[
    Callee {
        target: "amd64_sysv",
        dialect: Dialect { jump: AMD64, garbage: true },
        list: List::Address,
        // GCC 12 reads it with an aligned load where the registers are saved, at an odd place.
        limits: Limits { wide_in_lists: |aggregate| aggregate.size() != 16, ..ALL },
    },
    Callee {
        target: "arm64",
        dialect: Dialect { jump: ARM64, garbage: true },
        list: List::Address,
        limits: ALL,
    },
    Callee {
        target: "rv64",
        dialect: Dialect { jump: RV64, garbage: false },
        list: List::Value,
        limits: ALL,
    },
    Callee {
        target: "amd64_apple",
        dialect: Dialect { jump: AMD64, garbage: true },
        list: List::Address,
        limits: ALL,
    },
    // What is on the stack is packed, so a word cannot be passed with more above it. Clang 14 aligns
    // floats for lists where it reads them and not where it passes them, and gives narrow arguments
    // of variadic functions four bytes where it passes them and one or two where it reads them.
    Callee {
        target: "arm64_apple",
        dialect: Dialect { jump: ARM64, garbage: false },
        list: List::Value,
        limits: Limits {
            wide_in_lists: |aggregate| !aggregate.is_floats(),
            narrow_before_dots: false,
            ..ALL
        },
    },
    // GCC and clang do not agree on what a struct without members is there.
    Callee {
        target: "amd64_win",
        dialect: Dialect { jump: AMD64, garbage: true },
        list: List::Value,
        limits: Limits { empty: false, ..ALL },
    },
];

/// How the code of a program is made.
#[derive(Copy, Clone, Debug)]
pub struct Variant {
    pub level: Level,
    pub few_registers: bool,
    /// The C compilers' `-O`.
    pub c_level: &'static str,
}

/// One in each program, in turn.
pub const VARIANTS: [Variant; 5] = [
    Variant { level: Level::O1, few_registers: false, c_level: "-O1" },
    Variant { level: Level::O1, few_registers: true, c_level: "-O0" },
    Variant { level: Level::O0, few_registers: false, c_level: "-O1" },
    Variant { level: Level::O1, few_registers: false, c_level: "-O0" },
    Variant { level: Level::O0, few_registers: true, c_level: "-O2" },
];

/// Something wrong with the signature of that number.
pub struct Fault {
    pub number: usize,
    pub message: String,
}

/// All that building and running takes.
pub struct Bench<'a> {
    toolchain: &'static Toolchain,
    /// What links and runs: the toolchain itself, or what stands in for it.
    runner: &'static Toolchain,
    pub callee: &'static Callee,
    /// A program with QBE's command line, in place of this crate.
    pub compiler: Option<&'a str>,
    /// A folder of its own.
    pub folder: PathBuf,
    /// The C compilers: name and command.
    peers: Vec<(&'static str, Vec<&'static str>)>,
}

fn io(e: std::io::Error) -> String {
    e.to_string()
}

impl<'a> Bench<'a> {
    /// Builds what all programs share.
    pub fn new(
        toolchain: &'static Toolchain,
        callee: &'static Callee,
        compiler: Option<&'a str>,
        folder: &Path,
    ) -> Result<Bench<'a>, String> {
        fs::create_dir_all(folder).map_err(io)?;
        let runner = toolchain.stand_in().unwrap_or(toolchain);
        let gcc = toolchain.cc_command().into_iter().filter(|word| *word != "-static").collect();
        let mut peers = vec![("gcc", gcc), ("clang", toolchain.clang.to_vec())];
        if toolchain.stand_in.is_some() {
            peers.remove(0);
            peers[0].1.extend(macho::c_flags(toolchain.target.starts_with("arm64")));
        }
        let folder = folder.to_owned();
        let bench = Bench { toolchain, runner, callee, compiler, folder, peers };
        let (source, object) = (bench.path("support.c"), bench.path("support.o"));
        fs::write(&source, include_str!("support.c")).map_err(io)?;
        let args: [&OsStr; 6] = [
            "-O1".as_ref(),
            "-fno-stack-protector".as_ref(),
            "-c".as_ref(),
            "-o".as_ref(),
            object.as_ref(),
            source.as_ref(),
        ];
        runner.cc(&args)?;
        Ok(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn compile_c(
        &self,
        command: &[&str],
        level: &str,
        source: &Path,
        object: &Path,
    ) -> Result<(), String> {
        let stands_in = self.toolchain.stand_in.is_some();
        let assembly = self.path("c.s");
        let mut command_line = Command::new(command[0]);
        command_line.args(&command[1..]);
        command_line.args([level, "-w", "-fno-stack-protector"]);
        command_line.args([if stands_in { "-S" } else { "-c" }, "-o"]);
        command_line.arg(if stands_in { &assembly } else { object });
        let done = command_line.arg(source).output().map_err(io)?;
        if done.status.success() {
            if stands_in {
                let text = fs::read_to_string(&assembly).map_err(io)?;
                self.assemble(&text, object)?;
            }
            return Ok(());
        }
        let text = String::from_utf8_lossy(&done.stderr);
        let lines: Vec<&str> = text.lines().take(8).collect();
        Err(format!("{}: {}", command[0], lines.join("\n")))
    }

    /// Assembles what was compiled for the target.
    fn assemble(&self, text: &str, object: &Path) -> Result<(), String> {
        let source = object.with_extension("s");
        let arm64 = self.callee.target.starts_with("arm64");
        let elf = self.toolchain.stand_in.map(|_| macho::as_elf(text, arm64));
        fs::write(&source, elf.as_deref().unwrap_or(text)).map_err(io)?;
        let args: [&OsStr; 4] = ["-c".as_ref(), "-o".as_ref(), object.as_ref(), source.as_ref()];
        self.runner.cc(&args)
    }

    /// IL and C of a program.
    pub fn texts(&self, signatures: &[Signature]) -> (String, String) {
        let (mut il, mut c) = (String::new(), String::from(c::HEAD));
        for (k, signature) in signatures.iter().enumerate() {
            il::functions(k, signature, self.callee.list, &mut il);
            c::functions(k, signature, self.callee.dialect, &mut c);
        }
        c::main(signatures.len(), &mut c);
        (il, c)
    }

    fn assembly(&self, il: &str, variant: Variant) -> Result<Vec<u8>, String> {
        let name = self.callee.target;
        if let Some(program) = self.compiler {
            let source = self.path("program.ssa");
            fs::write(&source, il).map_err(io)?;
            let mut command = Command::new(program);
            let done = command.args(["-t", name]).arg(&source).output().map_err(io)?;
            return match done.status.success() {
                true => Ok(done.stdout),
                false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
            };
        }
        let target = target::by_name(name).ok_or_else(|| format!("no target {name}"))?;
        let mut options = Options::new(target);
        options.level = variant.level;
        options.verify = true;
        options.threads = 1;
        options.max_regs = variant.few_registers.then_some(self.toolchain.fewest_registers);
        options.frame_pointer = variant.few_registers;
        let input = Input { name: "program.ssa", text: il.as_bytes() };
        let done = catch_unwind(AssertUnwindSafe(|| compile(&[input], &options)));
        match done {
            Ok(Ok(output)) => Ok(output.bytes),
            Ok(Err(errors)) => Err(errors[0].to_string()),
            Err(payload) => Err(match payload.downcast_ref::<String>() {
                Some(text) => format!("panic: {text}"),
                None => "panic".into(),
            }),
        }
    }

    /// Builds and runs one program with each C compiler. Faults whose signature is not known are
    /// errors.
    pub fn run(&self, signatures: &[Signature], variant: Variant) -> Result<Vec<Fault>, String> {
        let (il, c) = self.texts(signatures);
        let object = self.path("il.o");
        self.assemble(&String::from_utf8_lossy(&self.assembly(&il, variant)?), &object)?;
        let c_source = self.path("program.c");
        fs::write(&c_source, c).map_err(io)?;
        let mut faults = Vec::new();
        for (peer, command) in &self.peers {
            let c_object = self.path("c.o");
            self.compile_c(command, variant.c_level, &c_source, &c_object)?;
            let (program, support) = (self.path("program.exe"), self.path("support.o"));
            let args: [&OsStr; 5] = [
                "-o".as_ref(),
                program.as_ref(),
                object.as_ref(),
                c_object.as_ref(),
                support.as_ref(),
            ];
            self.runner.cc(&args)?;
            let (status, output) = self.runner.run(&program)?;
            let output = String::from_utf8_lossy(&output);
            if let Some(fault) = first_fault(&output) {
                let message = format!("{peer}: {}", fault.message);
                faults.push(Fault { message, ..fault });
            } else if !output.ends_with("done 0\n") {
                return Err(format!("{peer}: status {status}, {output}"));
            }
        }
        Ok(faults)
    }

    /// The first fault of a program; of one that says nothing about itself, by halving it.
    pub fn find(&self, signatures: &[Signature], variant: Variant) -> Option<Fault> {
        match self.run(signatures, variant) {
            Ok(faults) => faults.into_iter().next(),
            Err(message) if signatures.len() == 1 => Some(Fault { number: 0, message }),
            Err(message) => {
                let middle = signatures.len() / 2;
                let (first, second) = signatures.split_at(middle);
                let fault = self.find(first, variant);
                let fault = fault.or_else(|| {
                    let fault = self.find(second, variant)?;
                    Some(Fault { number: fault.number + middle, ..fault })
                });
                Some(fault.unwrap_or(Fault { number: 0, message }))
            }
        }
    }

    /// A signature with a fault that nothing can be taken from, and the fault.
    pub fn reduce(&self, signature: &Signature, variant: Variant) -> (Signature, String) {
        let mut best = signature.clone();
        let mut message = String::new();
        let mut still = |smaller: Signature, best: &mut Signature| {
            let fault = self.find(std::slice::from_ref(&smaller), variant);
            let is_there = fault.is_some();
            if let Some(fault) = fault {
                (*best, message) = (smaller, fault.message);
            }
            is_there
        };
        if !still(best.clone(), &mut best) {
            return (best, message);
        }
        still(Signature { live: Vec::new(), ..best.clone() }, &mut best);
        still(Signature { ret: None, ..best.clone() }, &mut best);
        let mut length = best.args.len().div_ceil(2);
        while length > 0 {
            let mut start = 0;
            while start < best.args.len() {
                let end = (start + length).min(best.args.len());
                if !best.without(start..end).is_some_and(|smaller| still(smaller, &mut best)) {
                    start = end;
                }
            }
            length /= 2;
        }
        if best.variadic == Some(best.args.len()) {
            still(Signature { variadic: None, ..best.clone() }, &mut best);
        }
        (best, message)
    }
}

/// The first line of a program's output that tells of a fault.
fn first_fault(output: &str) -> Option<Fault> {
    output.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [kind, number, place] = words[..] else { return None };
        let (number, place) = (number.parse().ok()?, place.parse().ok()?);
        match kind {
            "crash" => Some(Fault { number, message: format!("signal {place}") }),
            "fault" => Some(Fault { number, message: described(place) }),
            _ => None,
        }
    })
}

/// What a place means.
fn described(place: usize) -> String {
    let n = place % 100;
    match place / 100 * 100 {
        il::IL_PARAMETER if n == 99 => "C calls IL: an argument is wrong".into(),
        il::IL_PARAMETER => format!("C calls IL: argument {n} is wrong"),
        il::C_RESULT => "C calls IL: the result is wrong".into(),
        il::C_PARAMETER => format!("IL calls C: argument {n} is wrong"),
        il::IL_RESULT if n == 99 => "IL calls C: the result or a live value is wrong".into(),
        il::IL_RESULT => "IL calls C: the result is wrong".into(),
        il::IL_LIVE => format!("IL calls C: the live value {n} is lost"),
        il::IL_COPY => format!("IL calls C: C changed the caller's aggregate {n}"),
        il::C_COPY => format!("C calls IL: IL changed the caller's aggregate {n}"),
        1000 if n == 99 => "C calls IL: the stack pointer is not restored".into(),
        1000 => format!("C calls IL: saved register number {n} is lost"),
        1100 => "IL calls C: the stack is not aligned".into(),
        _ => format!("place {place}"),
    }
}
