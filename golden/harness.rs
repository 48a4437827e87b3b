//! Golden tests: what the compiler writes for an input, pinned in a file beside it.
//!
//! - `passes/PASS/CASE.ssa` with `.diff`: the change that one pass makes to the IL.
//! - `asm/TARGET/CASE.ssa` with `.s`: the assembly.
//! - `errors/CASE.ssa` with `.err`: the messages for bad input.
//!
//! `BLESS=1 cargo test --test golden` rewrites what differs. docs/TESTING.md tells more.

use backend::pipeline::PASSES;
use backend::{Emit, Input, Level, Options, target};
use libtest_mimic::{Arguments, Failed, Trial};
use pretty_assertions::StrComparison;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The target whose view of the IL the pass tests show.
const PASS_TARGET: &str = "amd64_sysv";

/// The ending of an expectation.
fn ending(kind: &str) -> Option<&'static str> {
    match kind {
        "passes" => Some("diff"),
        "asm" => Some("s"),
        "errors" => Some("err"),
        _ => None,
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if bless() && ci() {
        eprintln!("golden: BLESS=1 is refused where CI=true");
        return ExitCode::FAILURE;
    }
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(message) => {
            eprintln!("golden: {message}");
            ExitCode::FAILURE
        }
    }
}

fn bless() -> bool {
    std::env::var("BLESS").is_ok_and(|v| v == "1")
}

fn ci() -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true")
}

fn trials() -> Result<Vec<Trial>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut files = BTreeSet::new();
    collect(&root, &mut files)?;
    let mut trials = Vec::new();
    for file in &files {
        let relative = file.strip_prefix(&root).map_err(|e| e.to_string())?;
        let name = relative.with_extension("").to_string_lossy().into_owned();
        let kind = name.split('/').next().unwrap_or_default().to_string();
        let Some(ending) = ending(&kind) else { continue };
        let input = file.with_extension("ssa");
        let expectation = file.with_extension(ending);
        if file.extension() == Some(OsStr::new("ssa")) {
            trials.push(Trial::test(name, move || check(&kind, &input, &expectation)));
        } else if file.extension() != Some(OsStr::new(ending)) {
            return Err(format!("{}: .ssa or .{ending} expected here", file.display()));
        } else if !files.contains(&input) {
            let message = format!("{} is the expectation of no test", file.display());
            trials.push(Trial::test(name, move || Err(message.into())));
        }
    }
    Ok(trials)
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension() != Some(OsStr::new("rs")) {
            files.insert(path);
        }
    }
    Ok(())
}

/// Compares what the compiler says about `input` with `expectation`, or rewrites the latter.
fn check(kind: &str, input: &Path, expectation: &Path) -> Result<(), Failed> {
    let text = fs::read(input).map_err(|e| format!("{}: {e}", input.display()))?;
    let folder = input.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    let got = match kind {
        "passes" => pass_diff(&name, &text, &folder)?,
        "asm" => assembly(&name, &text, &folder)?,
        _ => messages(&name, &text)?,
    };
    let want = match fs::read_to_string(expectation) {
        Ok(want) => Some(want),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(format!("{}: {e}", expectation.display()).into()),
    };
    if want.as_deref() == Some(&got) {
        return Ok(());
    }
    let want = want.unwrap_or_default();
    if bless() {
        fs::write(expectation, &got).map_err(|e| format!("{}: {e}", expectation.display()))?;
        println!("{}\n{}", expectation.display(), StrComparison::new(&want, &got));
        return Ok(());
    }
    let diff = StrComparison::new(&want, &got);
    let path = expectation.display();
    Err(format!("{path}: BLESS=1 cargo test --test golden accepts this\n{diff}").into())
}

fn options(target: &str) -> Result<Options, String> {
    let target = target::by_name(target).ok_or_else(|| format!("no target {target}"))?;
    let mut options = Options::new(target);
    options.verify = true;
    Ok(options)
}

fn compile(name: &str, text: &[u8], options: &Options) -> Result<String, String> {
    match backend::compile(&[Input { name, text }], options) {
        Ok(output) => String::from_utf8(output.bytes).map_err(|e| e.to_string()),
        Err(errors) => Err(join(&errors)),
    }
}

fn join(errors: &[backend::Error]) -> String {
    errors.iter().map(|e| format!("{e}\n")).collect()
}

/// Assembly; with call frame information if a comment says `# with: unwind`, and so on.
fn assembly(name: &str, text: &[u8], target: &str) -> Result<String, String> {
    let mut options = options(target)?;
    let source = String::from_utf8_lossy(text);
    let with = source.lines().find_map(|l| l.strip_prefix("# with: ")).unwrap_or_default();
    let with = |word| with.split_whitespace().any(|w| w == word);
    options.unwind = with("unwind");
    options.frame_pointer = with("frame-pointer");
    options.function_sections = with("function-sections");
    options.data_sections = with("data-sections");
    compile(name, text, &options)
}

/// The messages for bad input.
fn messages(name: &str, text: &[u8]) -> Result<String, String> {
    match backend::compile(&[Input { name, text }], &options(PASS_TARGET)?) {
        Ok(_) => Err("this input was accepted".into()),
        Err(errors) => Ok(join(&errors)),
    }
}

/// The IL before and after the pass, as a diff of all lines. Of the passes in front of it only
/// those run that compiling needs, and those named by a comment `# after: NAME…`.
fn pass_diff(name: &str, text: &[u8], pass: &str) -> Result<String, String> {
    let position = PASSES.iter().position(|p| p.name == pass);
    let position = position.ok_or_else(|| format!("the folder {pass} names no pass"))?;
    let source = String::from_utf8_lossy(text).into_owned();
    let after = source.lines().find_map(|l| l.strip_prefix("# after: ")).unwrap_or_default();
    let after: Vec<&str> = after.split_whitespace().collect();
    if let Some(unknown) = after.iter().find(|&&a| !PASSES[..position].iter().any(|p| p.name == a))
    {
        return Err(format!("no pass {unknown} in front of {pass}"));
    }
    let mut options = options(PASS_TARGET)?;
    options.emit = Emit::Il;
    options.internal_ops = true;
    options.stop_after = Some(pass.to_string());
    let wanted = |p: &str, level: Level| level == Level::O0 || after.contains(&p);
    let others = PASSES.iter().filter(|p| p.name != pass && !wanted(p.name, p.level));
    options.disable = others.map(|p| p.name.to_string()).collect();
    let changed = compile(name, text, &options)?;
    options.disable.push(pass.to_string());
    let original = compile(name, text, &options)?;
    Ok(diff(&original, &changed))
}

/// All lines of both texts, marked ` `, `-` or `+`, by their longest common subsequence.
fn diff(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    // common[i][j]: the length of the longest common subsequence of old[i..] and new[j..].
    let mut common = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut text = String::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        let both = i < old.len() && j < new.len();
        let (mark, line) = if both && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            (' ', old[i - 1])
        } else if j == new.len() || both && common[i + 1][j] >= common[i][j + 1] {
            i += 1;
            ('-', old[i - 1])
        } else {
            j += 1;
            ('+', new[j - 1])
        };
        text.push(mark);
        text.push_str(line);
        text.push('\n');
    }
    text
}
