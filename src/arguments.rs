//! The command line. QBE's options mean what they mean there; the rest are ours.

use backend::pipeline::{PASSES, STAGES};
use backend::target::{self, Features, TARGETS, Target};
use backend::{Emit, Level, Options};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What to do.
pub enum Action {
    Compile(Box<Arguments>),
    /// Print this on standard output and leave with 0.
    Print(String),
    /// Print this on standard error and leave with 1.
    Usage(String),
}

/// What to compile, how, and where to.
pub struct Arguments {
    pub options: Options,
    /// Input files; `-` is standard input.
    pub files: Vec<String>,
    /// `None`: standard output.
    pub output: Option<PathBuf>,
    pub run: bool,
    pub time_passes: bool,
}

/// Reads the arguments, the program's name first.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Action {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(fault) => {
            let text = fault.to_string();
            return if fault.use_stderr() { Action::Usage(text) } else { Action::Print(text) };
        }
    };
    match interpret(&matches) {
        Ok(action) => action,
        Err(message) => Action::Usage(format!("backend: {message}")),
    }
}

/// The target for the machine this runs on, as QBE's configuration chooses it.
fn host() -> &'static Target {
    let name = match (std::env::consts::ARCH, std::env::consts::OS) {
        ("x86_64", "macos") => "amd64_apple",
        ("x86_64", "windows") => "amd64_win",
        ("aarch64", "macos") => "arm64_apple",
        ("aarch64", _) => "arm64",
        ("riscv64", _) => "rv64",
        _ => "amd64_sysv",
    };
    target::by_name(name).unwrap_or(TARGETS[0])
}

fn value(name: &'static str, placeholder: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(placeholder).help(help)
}

fn many(name: &'static str, placeholder: &'static str, help: &'static str) -> Arg {
    value(name, placeholder, help).action(ArgAction::Append)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// The features of each target that has any.
fn features() -> String {
    let rows = TARGETS.iter().filter(|t| !t.features.is_empty());
    let rows: Vec<String> =
        rows.map(|t| format!("{}: {}", t.name, t.features.join(", "))).collect();
    format!("Features: {}", rows.join("; "))
}

fn command() -> Command {
    let list: Vec<String> = TARGETS
        .iter()
        .map(
            |t| if t.name == host().name { format!("{} (default)", t.name) } else { t.name.into() },
        )
        .collect();
    Command::new("backend")
        .about("Compiles QBE's intermediate language to assembly")
        .version(env!("CARGO_PKG_VERSION"))
        .override_usage("backend [OPTIONS] {file.ssa, -}...")
        .after_help(format!("Targets: {}\n{}", list.join(", "), features()))
        .args_override_self(true)
        .disable_help_flag(true)
        .arg(Arg::new("files").num_args(0..).value_name("file.ssa").help("input; - or none: stdin"))
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::Help)
                .help("prints this help"),
        )
        .arg(Arg::new("output").short('o').value_name("file").help("output to file; - is stdout"))
        .arg(
            Arg::new("target")
                .short('t')
                .value_name("target")
                .help("generate for a target; ? prints the default"),
        )
        .arg(
            Arg::new("dump")
                .short('d')
                .value_name("flags")
                .action(ArgAction::Append)
                .help("dump debug information: letters of PMNCGKAILSR"),
        )
        .arg(
            Arg::new("level")
                .short('O')
                .value_name("level")
                .help("0: only what compiling needs; 1: the default"),
        )
        .arg(
            Arg::new("threads")
                .short('j')
                .value_name("n")
                .help("work on n threads; the output is the same"),
        )
        .arg(
            Arg::new("feature")
                .short('m')
                .value_name("feature")
                .action(ArgAction::Append)
                .help("use an extension of the target's instruction set"),
        )
        .arg(
            Arg::new("object")
                .short('c')
                .action(ArgAction::SetTrue)
                .help("write an object file, as for an output file that ends in .o or .obj"),
        )
        .arg(value("emit", "kind", "what to write: asm, obj or il"))
        .arg(
            Arg::new("debug")
                .short('g')
                .action(ArgAction::SetTrue)
                .help("debug information for all functions, not only those with a dbgfile"),
        )
        .arg(flag("no-unwind", "leave out what unwinders of the stack read"))
        .arg(flag("frame-pointer", "keep a frame pointer in every function that calls"))
        .arg(flag("function-sections", "a section for every function, for --gc-sections"))
        .arg(flag("data-sections", "a section for every data object"))
        .arg(flag("verify", "check the function after every pass, and the register allocation"))
        .arg(flag("time-passes", "print where the time went to stderr"))
        .arg(many("dump-after", "pass", "print every function after the pass to stderr"))
        .arg(value("stop-after", "pass", "end there; the output is the IL"))
        .arg(many("disable", "pass", "leave out the pass"))
        .arg(value("bisect", "n", "run only the first n applications of passes"))
        .arg(value("max-regs", "n", "at most n registers of each bank for temporaries"))
        .arg(flag("run", "interpret $main instead of compiling"))
        .arg(flag("internal-ops", "accept the ops that dumps may hold"))
}

fn interpret(matches: &ArgMatches) -> Result<Action, String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let all = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
    let mut target = host();
    if let Some(name) = text("target") {
        if name == "?" {
            return Ok(Action::Print(format!("{}\n", target.name)));
        }
        target = target::by_name(name).ok_or_else(|| format!("unknown target '{name}'"))?;
    }
    let mut options = Options::new(target);
    options.level = match text("level") {
        None | Some("1") => Level::O1,
        Some("0") => Level::O0,
        Some(other) => return Err(format!("unknown level '-O{other}': 0 or 1 expected")),
    };
    let output = text("output").filter(|&o| o != "-").map(PathBuf::from);
    options.emit = match text("emit") {
        None if matches.get_flag("object") || is_object(output.as_deref()) => Emit::Object,
        None | Some("asm") => Emit::Assembly,
        Some("obj") => Emit::Object,
        Some("il") => Emit::Il,
        Some(other) => return Err(format!("cannot emit '{other}': asm, obj or il expected")),
    };
    for name in all("feature") {
        enable(target, &mut options.features, &name)?;
    }
    options.threads = number(text("threads"), "-j")?.unwrap_or(0);
    options.max_regs = number(text("max-regs"), "--max-regs")?;
    options.bisect = number(text("bisect"), "--bisect")?;
    options.unwind = !matches.get_flag("no-unwind");
    options.frame_pointer = matches.get_flag("frame-pointer");
    options.function_sections = matches.get_flag("function-sections");
    options.data_sections = matches.get_flag("data-sections");
    options.debug = matches.get_flag("debug");
    options.verify = matches.get_flag("verify");
    options.internal_ops = matches.get_flag("internal-ops");
    options.disable = all("disable").collect();
    options.dump_after = all("dump-after").collect();
    options.stop_after = text("stop-after").map(str::to_owned);
    known(options.disable.iter(), &[])?;
    known(options.stop_after.iter(), &["parse"])?;
    known(options.dump_after.iter(), STAGES)?;
    options.dump_letters = all("dump")
        .flat_map(|s| s.to_uppercase().chars().collect::<Vec<_>>())
        .filter(char::is_ascii_alphabetic)
        .collect();
    let mut files: Vec<String> = all("files").collect();
    if files.is_empty() {
        files.push("-".into());
    }
    Ok(Action::Compile(Box::new(Arguments {
        options,
        files,
        output,
        run: matches.get_flag("run"),
        time_passes: matches.get_flag("time-passes"),
    })))
}

/// True for the names of object files.
fn is_object(output: Option<&Path>) -> bool {
    output.and_then(Path::extension).is_some_and(|e| e == "o" || e == "obj")
}

/// Refuses names that are neither a pass nor one of `others`.
fn known<'a>(names: impl Iterator<Item = &'a String>, others: &[&str]) -> Result<(), String> {
    let all = || others.iter().copied().chain(PASSES.iter().map(|p| p.name));
    for name in names {
        if !all().any(|n| n == name) {
            let list: Vec<&str> = all().collect();
            return Err(format!("unknown pass '{name}'; {} expected", list.join(", ")));
        }
    }
    Ok(())
}

fn number<T: std::str::FromStr>(text: Option<&str>, option: &str) -> Result<Option<T>, String> {
    text.map(|t| t.parse().map_err(|_| format!("{option}: number expected, not '{t}'"))).transpose()
}

fn enable(target: &Target, features: &mut Features, name: &str) -> Result<(), String> {
    if target.features.contains(&name) && features.enable(name) {
        return Ok(());
    }
    let others = TARGETS.iter().find(|t| t.features.contains(&name));
    Err(match others {
        Some(other) => format!("'{name}' is a feature of {}, not of {}", other.name, target.name),
        None => format!("unknown feature '{name}'"),
    })
}
