//! Random IL against the interpreter, the passes and machine code.
//!
//! Without arguments: one second from a fixed seed, as a test. `scripts/fuzz` runs it for longer;
//! see there for the arguments.

#[path = "../toolchain.rs"]
#[allow(dead_code, reason = "shared with the il-tests, which use more of it")]
mod toolchain;

mod body;
mod check;
mod control;
mod generate;
mod native;
mod numbers;
mod patterns;
mod reduce;
mod statements;

use backend::interp::End;
use check::{VARIANTS, Variant};
use generate::Options;
use native::Build;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use toolchain::{Toolchain, toolchains};

/// Where the test starts. Another number is another test.
const FIRST_SEED: u64 = 1;
/// Modules in one program of machine code.
const BATCH: u64 = 20;

/// What the command line asks for.
struct Task {
    seeds: std::ops::Range<u64>,
    options: Options,
    /// Run machine code too.
    native: bool,
    /// Another compiler, in place of this crate's.
    compiler: Option<String>,
    variants: Vec<Variant>,
    /// Whose machine code is run.
    target: &'static str,
    /// Where the texts of faults go.
    faults: PathBuf,
    directory: PathBuf,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let value = |name: &str| args.iter().position(|&a| a == name).and_then(|i| args.get(i + 1));
    let number = |name: &str, or: u64| {
        value(name).map_or(or, |v| v.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
    };
    let plain = args.contains(&"--plain");
    let options = Options { plain, volatile: !plain, uninitialised: !plain };
    let directory = std::env::temp_dir().join(format!("backend-random-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("there is a place for temporary files");
    let first = number("--seed", FIRST_SEED);
    let target = value("--target").map_or("amd64_sysv", |name| {
        toolchain::toolchain(name).expect("a target of il-tests/toolchain.rs").target
    });
    let task = Task {
        seeds: first..first + number("--count", 1),
        options,
        native: args.contains(&"--native"),
        compiler: value("--compiler").map(|c| (*c).to_owned()),
        variants: match value("--disable") {
            Some(name) => vec![Variant::without_pass(name).on(target)],
            None => VARIANTS.map(|v| v.on(target)).to_vec(),
        },
        target,
        faults: value("--faults").map_or_else(|| directory.clone(), PathBuf::from),
        directory: directory.clone(),
    };
    let good = if let Some(seed) = value("--print") {
        print!("{}", generate::module(seed.parse().expect("a seed"), "", options));
        true
    } else if let Some(file) = value("--check") {
        check_file(&task, Path::new(file))
    } else if let Some(file) = value("--reduce") {
        reduce_file(&task, Path::new(file))
    } else if args.contains(&"--fuzz") {
        fuzz(&task)
    } else {
        test(&task)
    };
    // Nothing depends on the directory going away.
    let _ = std::fs::remove_dir_all(&directory);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Task {
    fn builds(&self, variants: &[Variant]) -> Vec<Build<'static>> {
        match &self.compiler {
            Some(program) => vec![Build::program(program, self.target, &self.directory)],
            None => variants.iter().map(|&v| Build::ours(v, &self.directory)).collect(),
        }
    }

    /// Whether there was anything to compare in what the passes do, or the fault of a seed.
    fn passes(&self, seed: u64, variant: Variant) -> Result<bool, String> {
        let text = generate::module(seed, "", self.options);
        let outcome = check::passes(text.as_bytes(), "main", variant)?;
        Ok(matches!(outcome.end, End::Returned(_)))
    }

    /// Writes the text of a seed where it can be looked at, and says what is wrong with it.
    fn report(&self, seed: u64, message: &str) {
        println!("seed {seed}: {message}");
        let file = self.faults.join(format!("seed{seed}.ssa"));
        let text = generate::module(seed, "", self.options);
        if self.faults != self.directory && std::fs::write(&file, text).is_ok() {
            println!("  written to {}", file.display());
        }
    }
}

/// One second of seeds through the passes, and programs of machine code.
fn test(task: &Task) -> bool {
    let start = Instant::now();
    let mut count = 0;
    let mut good = true;
    quiet();
    while start.elapsed() < Duration::from_millis(700) {
        let seed = FIRST_SEED + count;
        if let Err(message) = task.passes(seed, VARIANTS[count as usize % VARIANTS.len()]) {
            task.report(seed, &message);
            good = false;
        }
        count += 1;
    }
    let mut without = String::new();
    for toolchain in toolchains().filter(|t| t.emulator.is_some()) {
        if let Some(tool) = toolchain.missing() {
            without += &format!(" ({tool} is missing: no machine code of {})", toolchain.target);
            good &= !std::env::var("CI").is_ok_and(|v| v == "true");
            continue;
        }
        good &= machine_code(task, toolchain);
    }
    println!("random: {count} modules from seed {FIRST_SEED}{without}");
    good
}

/// A program of the first seeds on one target, in all variants.
fn machine_code(task: &Task, toolchain: &Toolchain) -> bool {
    let mut good = true;
    let seeds: Vec<u64> = (FIRST_SEED..FIRST_SEED + BATCH).collect();
    for variant in &task.variants {
        let build = Build::ours(variant.on(toolchain.target), &task.directory);
        if let Err(fault) = native::compare(&seeds, task.options, &build) {
            task.report(fault.seed, &format!("{}: {}", toolchain.target, fault.message));
            good = false;
        }
    }
    good
}

/// All seeds of a range. Each batch also goes without one pass, which shows the ones behind it
/// other code.
fn fuzz(task: &Task) -> bool {
    quiet();
    let (mut faults, mut compared) = (0, 0);
    let ours = task.compiler.is_none();
    for batch in task.seeds.clone().step_by(BATCH as usize) {
        let seeds: Vec<u64> = (batch..(batch + BATCH).min(task.seeds.end)).collect();
        let mut variants = task.variants.clone();
        variants.push(Variant::without(batch / BATCH).on(task.target));
        let mut sound = Vec::new();
        for &seed in &seeds {
            let own = variants.iter().filter(|v| ours && v.has_own_passes());
            match own.copied().try_fold(false, |_, v| task.passes(seed, v)) {
                Ok(comparable) => {
                    compared += usize::from(comparable);
                    sound.push(seed);
                }
                Err(message) => {
                    task.report(seed, &message);
                    faults += 1;
                }
            }
        }
        if !task.native || sound.is_empty() {
            continue;
        }
        for build in task.builds(&variants) {
            if native::compare(&sound, task.options, &build).is_ok() {
                continue;
            }
            for &seed in &sound {
                if let Err(fault) = native::compare(&[seed], task.options, &build) {
                    task.report(seed, &fault.message);
                    faults += 1;
                }
            }
        }
    }
    println!("random: seeds {:?}, {compared} run to their end, {faults} faults", task.seeds);
    faults == 0
}

fn check_file(task: &Task, file: &Path) -> bool {
    let text = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    match check::file(&text, &task.variants, &task.builds(&task.variants), task.native) {
        Ok(()) => true,
        Err(message) => {
            println!("{}: {message}", file.display());
            false
        }
    }
}

/// Prints a smaller text with the same kind of fault.
fn reduce_file(task: &Task, file: &Path) -> bool {
    quiet();
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let builds = task.builds(&task.variants);
    let kind = |text: &str| {
        let fault = check::file(text.as_bytes(), &task.variants, &builds, task.native).err()?;
        // Up to the first number or quoted thing a message says what kind of fault it is.
        let end = fault.find(|c: char| c.is_ascii_digit() || "\n$%@".contains(c));
        Some(fault[..end.unwrap_or(fault.len())].to_owned())
    };
    let Some(wanted) = kind(&text) else {
        println!("{}: no fault", file.display());
        return false;
    };
    eprintln!("reducing: {wanted}");
    print!("{}", reduce::reduce(&text, &mut |text| kind(text).as_ref() == Some(&wanted)));
    true
}

/// Panics are caught and reported as faults; their own messages would only be in the way.
fn quiet() {
    std::panic::set_hook(Box::new(|_| {}));
}
