//! Runs the il-tests: every file on every target and level.
//!
//! A trial compiles its file in this process, links it with `cc`, runs it, and compares what it
//! writes and returns. It does so twice, the second time with few registers and, at O1, a frame
//! pointer; it also prints and parses the module, and runs it in the interpreter. docs/TESTING.md
//! tells how to write a test.
//!
//! With `BACKEND_BIN=program` another compiler with QBE's command line is tested instead, with
//! `IL_TESTS=folder` the files of another folder are.

#[path = "case.rs"]
mod case;
#[path = "generated.rs"]
mod generated;
#[path = "macho.rs"]
mod macho;
#[path = "oracle.rs"]
mod oracle;
#[path = "toolchain.rs"]
mod toolchain;

use backend::{Emit, Input, Level, Options, target};
use case::Case;
use generated::GENERATED;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use toolchain::{Scratch, Toolchain, toolchains};

const LEVELS: [Level; 2] = [Level::O0, Level::O1];

/// A file on one target: what its trials share.
struct Unit {
    case: Case,
    toolchain: &'static Toolchain,
    /// The object file of the driver, built by the first trial that wants it.
    driver: OnceLock<Result<Option<PathBuf>, String>>,
    scratch: Scratch,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(message) => {
            eprintln!("il-tests: {message}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for toolchain in toolchains() {
        let missing = toolchain.missing();
        for case in cases()? {
            if case.skips(toolchain.target) {
                continue;
            }
            let name = case.name.clone();
            let scratch = Scratch::new()?;
            let unit = Arc::new(Unit { case, toolchain, driver: OnceLock::new(), scratch });
            for &level in levels() {
                let unit = Arc::clone(&unit);
                let name = format!("{}/{level:?}/{name}", toolchain.target);
                trials.push(Trial::ignorable_test(name, move || unit.trial(level, missing)));
            }
        }
    }
    Ok(trials)
}

/// All test files, then the generated ones.
fn cases() -> Result<Vec<Case>, String> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("il-tests");
    let root = std::env::var_os("IL_TESTS").map_or_else(own, PathBuf::from);
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut cases = Vec::new();
    for file in &files {
        cases.push(Case::read(&root, file).map_err(|e| format!("{}: {e}", file.display()))?);
    }
    for shape in GENERATED {
        let mut case = Case::new(format!("generated/{}", shape.name), shape.text())?;
        case.seconds = shape.seconds;
        case.verify = false;
        cases.push(case);
    }
    Ok(cases)
}

fn levels() -> &'static [Level] {
    if other_backend().is_some() { &LEVELS[1..] } else { &LEVELS }
}

fn other_backend() -> Option<std::ffi::OsString> {
    std::env::var_os("BACKEND_BIN")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        // Its driver is in another language: it is a test by itself.
        let own = path.ends_with("il-tests/unwind");
        if path.is_dir() && !own {
            collect(&path, files)?;
        } else if path.extension() == Some(OsStr::new("ssa")) {
            files.push(path);
        }
    }
    Ok(())
}

/// Seconds of processor time of this thread; where the system does not tell, of the wall clock.
fn clock() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let schedule = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match schedule.split(' ').next().and_then(|n| n.parse::<f64>().ok()) {
        Some(nanoseconds) => nanoseconds / 1e9,
        None => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

impl Unit {
    fn trial(&self, level: Level, missing: Option<&str>) -> Result<Completion, Failed> {
        if let Some(tool) = missing {
            if std::env::var("CI").is_ok_and(|v| v == "true") {
                return Err(format!("{tool} is missing").into());
            }
            return Ok(Completion::ignored_with(format!("{tool} is missing")));
        }
        match other_backend() {
            Some(program) => {
                let assembly = self.compile_with(&program)?;
                self.build_and_run("program", &assembly)?;
            }
            None => self.own_trial(level)?,
        }
        Ok(Completion::Completed)
    }

    /// All that is asked of our own compiler at one level.
    fn own_trial(&self, level: Level) -> Result<(), String> {
        if level == Level::O0 {
            let module = oracle::parse(&self.case)?;
            oracle::round_trip(&module, self.case.internal)?;
            oracle::interpret(&self.case, &module, "as written")?;
        } else {
            let il = self.compile(level, Emit::Il)?;
            let module = oracle::parse_text("after the passes", &il, true)?;
            oracle::interpret(&self.case, &module, "after the passes")?;
        }
        let start = clock();
        let assembly = self.compile(level, Emit::Assembly)?;
        let seconds = clock() - start;
        if seconds > self.case.seconds {
            return Err(format!("compiled in {seconds:.2} s, not {} s", self.case.seconds));
        }
        self.build_and_run(&format!("{level:?}"), &assembly)?;
        let few = self.toolchain.fewest_registers;
        let mut options = self.options(level)?;
        (options.max_regs, options.frame_pointer) = (Some(few), level == Level::O1);
        let squeezed = self.compile_by(&options)?;
        if squeezed != assembly {
            let also = if options.frame_pointer { " and a frame pointer" } else { "" };
            self.build_and_run(&format!("{level:?} with {few} registers{also}"), &squeezed)?;
        }
        if level == Level::O1 && self.toolchain.has_features() {
            self.try_features(&assembly)?;
        }
        Ok(())
    }

    /// The program with all extensions of the instruction set, if they change anything.
    fn try_features(&self, plain: &[u8]) -> Result<(), String> {
        let mut options = self.options(Level::O1)?;
        for name in options.target.features {
            options.features.enable(name);
        }
        let extended = self.compile_by(&options)?;
        let code = |text: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(text);
            text.lines().filter(|l| !l.starts_with(".attribute")).map(String::from).collect()
        };
        if code(&extended) == code(plain) {
            return Ok(());
        }
        self.build_and_run("O1 with all features", &extended)
    }

    fn options(&self, level: Level) -> Result<Options, String> {
        let name = self.toolchain.target;
        let target = target::by_name(name).ok_or_else(|| format!("no target {name}"))?;
        let mut options = Options::new(target);
        options.level = level;
        options.verify = self.case.verify;
        options.internal_ops = self.case.internal;
        options.threads = 1;
        Ok(options)
    }

    fn compile(&self, level: Level, emit: Emit) -> Result<Vec<u8>, String> {
        let mut options = self.options(level)?;
        options.emit = emit;
        self.compile_by(&options)
    }

    fn compile_by(&self, options: &Options) -> Result<Vec<u8>, String> {
        let file = format!("{}.ssa", self.case.name);
        let input = Input { name: &file, text: &self.case.text };
        match backend::compile(&[input], options) {
            Ok(output) => Ok(output.bytes),
            Err(errors) => Err(errors.iter().map(|e| format!("{e}\n")).collect()),
        }
    }

    /// Compiles with a program that has QBE's command line.
    fn compile_with(&self, program: &OsStr) -> Result<Vec<u8>, String> {
        let input = self.scratch.path("input.ssa");
        fs::write(&input, &self.case.text).map_err(|e| e.to_string())?;
        let mut command = Command::new(program);
        command.args(["-t", self.toolchain.target]).arg(&input).stdin(Stdio::null());
        let output = command.output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {text}", output.status));
        }
        Ok(output.stdout)
    }

    /// Links the assembly with the driver, runs the program and compares.
    fn build_and_run(&self, what: &str, assembly: &[u8]) -> Result<(), String> {
        let case = &self.case;
        let source = self.scratch.path(&format!("{what}.s"));
        let program = self.scratch.path(what);
        fs::write(&source, assembly).map_err(|e| e.to_string())?;
        let driver = self.driver.get_or_init(|| self.build_driver()).clone()?;
        let support = self.scratch.path(&format!("{what} support.s"));
        let mut args: Vec<&OsStr> = vec!["-o".as_ref(), program.as_ref(), source.as_ref()];
        if self.toolchain.stand_in.is_some() {
            self.assemble_and_look(what, &source)?;
            if case.skips("stand-in") {
                return Ok(());
            }
            let arm64 = self.is_arm64();
            let text = macho::as_elf(&String::from_utf8_lossy(assembly), arm64);
            fs::write(&source, text).map_err(|e| e.to_string())?;
            fs::write(&support, macho::support(arm64)).map_err(|e| e.to_string())?;
            args.push(support.as_ref());
        }
        args.extend(driver.as_ref().map(|d| d.as_os_str()));
        args.extend(case.flags.iter().map(|f| OsStr::new(f.as_str())));
        args.extend(["-lpthread", "-lm"].map(OsStr::new));
        let runner = self.runner();
        runner.cc(&args).map_err(|e| format!("{what}: {e}"))?;
        let (status, output) = runner.run(&program).map_err(|e| format!("{what}: {e}"))?;
        self.compare(what, status, &output)
    }

    /// What links and runs the programs.
    fn runner(&self) -> &'static Toolchain {
        self.toolchain.stand_in().unwrap_or(self.toolchain)
    }

    fn is_arm64(&self) -> bool {
        self.toolchain.target.starts_with("arm64")
    }

    /// Assembles and compares the object with the module.
    fn assemble_and_look(&self, what: &str, source: &Path) -> Result<(), String> {
        let object = self.scratch.path(&format!("{what} looked-at.o"));
        let args: [&OsStr; 4] = ["-c".as_ref(), "-o".as_ref(), object.as_ref(), source.as_ref()];
        self.toolchain.cc(&args).map_err(|e| format!("{what}: {e}"))?;
        let bytes = fs::read(&object).map_err(|e| e.to_string())?;
        macho::inspect(&bytes, &oracle::parse(&self.case)?).map_err(|e| format!("{what}: {e}"))
    }

    /// Compares what a program did with what the file says.
    fn compare(&self, what: &str, status: i32, output: &[u8]) -> Result<(), String> {
        let output = String::from_utf8_lossy(output);
        if let Some(want) = &self.case.output
            && *want != output
        {
            let diff = pretty_assertions::StrComparison::new(want, &output);
            return Err(format!("{what}: wrong output (left: expected, right: written)\n{diff}"));
        }
        if status != self.case.exit {
            let want = self.case.exit;
            return Err(format!("{what}: exit status {status}, not {want}\n{output}"));
        }
        Ok(())
    }

    fn build_driver(&self) -> Result<Option<PathBuf>, String> {
        let Some(text) = self.case.c_source() else { return Ok(None) };
        let source = self.scratch.path("driver.c");
        let object = self.scratch.path("driver.o");
        fs::write(&source, text).map_err(|e| e.to_string())?;
        let flags = ["-O1", "-w", "-fno-builtin"].map(OsStr::new);
        let mut args: Vec<&OsStr> = flags.to_vec();
        let assembly = self.scratch.path("driver.s");
        if self.toolchain.stand_in.is_some() {
            // Compiled for the target itself, whose calls it makes.
            let arm64 = self.is_arm64();
            args.extend(macho::c_flags(arm64).into_iter().map(OsStr::new));
            args.extend(["-S".as_ref(), "-o".as_ref(), assembly.as_os_str(), source.as_os_str()]);
            self.toolchain.cc(&args).map_err(|e| format!("driver: {e}"))?;
            let text = fs::read_to_string(&assembly).map_err(|e| e.to_string())?;
            fs::write(&assembly, macho::as_elf(&text, arm64)).map_err(|e| e.to_string())?;
            args = vec!["-c".as_ref(), "-o".as_ref(), object.as_ref(), assembly.as_ref()];
        } else {
            args.extend(["-c".as_ref(), "-o".as_ref(), object.as_os_str(), source.as_os_str()]);
        }
        self.runner().cc(&args).map_err(|e| format!("driver: {e}"))?;
        Ok(Some(object))
    }
}
