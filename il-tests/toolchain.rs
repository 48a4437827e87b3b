//! C compilers and emulators: what turns assembly into a program and runs it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What builds and runs the output of one target.
pub struct Toolchain {
    pub target: &'static str,
    /// The least `--max-regs` its instructions leave room for.
    pub fewest_registers: u32,
    /// On this machine, as `std::env::consts::ARCH` spells it, nothing is emulated.
    host: &'static str,
    /// The C compiler that assembles and links.
    cc: &'static [&'static str],
    /// Another C compiler, for objects.
    #[allow(dead_code, reason = "not all tests that share this file compile C with both")]
    pub clang: &'static [&'static str],
    /// What runs programs, or nothing: then the assembly is made to run on another target.
    pub emulator: Option<&'static str>,
    /// The target of the same processor on which that is.
    pub stand_in: Option<&'static str>,
}

/// One row a target. Programs for another system or architecture are linked statically: it is
/// quicker, and the emulator finds all it needs.
const ROWS: &[Toolchain] = &[
    Toolchain {
        target: "amd64_sysv",
        fewest_registers: 4,
        host: "x86_64",
        cc: &["x86_64-linux-gnu-gcc", "-static"],
        clang: &["clang", "-target", "x86_64-linux-gnu"],
        emulator: Some("qemu-x86_64"),
        stand_in: None,
    },
    Toolchain {
        target: "arm64",
        fewest_registers: 4,
        host: "aarch64",
        cc: &["aarch64-linux-gnu-gcc", "-static"],
        clang: &["clang", "-target", "aarch64-linux-gnu"],
        emulator: Some("qemu-aarch64"),
        stand_in: None,
    },
    Toolchain {
        target: "rv64",
        fewest_registers: 4,
        host: "riscv64",
        cc: &["riscv64-linux-gnu-gcc", "-static"],
        clang: &["clang", "-target", "riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d"],
        emulator: Some("qemu-riscv64"),
        stand_in: None,
    },
    Toolchain {
        target: "amd64_win",
        fewest_registers: 4,
        host: "",
        // As large a stack as Linux gives.
        cc: &["x86_64-w64-mingw32-gcc", "-static", "-Wl,--stack,8388608"],
        clang: &["clang", "-target", "x86_64-w64-mingw32"],
        emulator: Some("wine"),
        stand_in: None,
    },
    Toolchain {
        target: "amd64_apple",
        fewest_registers: 4,
        host: "",
        cc: &["clang", "-target", "x86_64-apple-macos11"],
        clang: &["clang", "-target", "x86_64-apple-macos11"],
        emulator: None,
        stand_in: Some("amd64_sysv"),
    },
    Toolchain {
        target: "arm64_apple",
        fewest_registers: 4,
        host: "",
        cc: &["clang", "-target", "arm64-apple-macos11"],
        clang: &["clang", "-target", "arm64-apple-macos11"],
        emulator: None,
        stand_in: Some("arm64"),
    },
];

/// The rows of the targets that there are; all, if it is another program that is tested.
pub fn toolchains() -> impl Iterator<Item = &'static Toolchain> {
    let all = std::env::var_os("BACKEND_BIN").is_some();
    ROWS.iter().filter(move |row| all || backend::target::by_name(row.target).is_some())
}

/// The row of that name, whether the target is there or not.
pub fn toolchain(name: &str) -> Option<&'static Toolchain> {
    ROWS.iter().find(|row| row.target == name)
}

/// How long a test program may run.
const LIMIT: Duration = Duration::from_secs(20);

impl Toolchain {
    fn native(&self) -> bool {
        std::env::consts::ARCH == self.host && std::env::consts::OS == "linux"
    }

    /// What is missing on this machine, if something is.
    pub fn missing(&self) -> Option<&'static str> {
        let mut tools = vec![if self.native() { "cc" } else { self.cc[0] }];
        tools.extend(self.emulator.filter(|_| !self.native()));
        let missing = tools.into_iter().find(|tool| !works(tool));
        missing.or_else(|| self.stand_in().and_then(Toolchain::missing))
    }

    /// The row of the stand-in.
    pub fn stand_in(&self) -> Option<&'static Toolchain> {
        self.stand_in.and_then(toolchain)
    }

    /// Whether what runs its programs knows all the extensions that `-m` can ask for.
    #[allow(dead_code, reason = "not all tests that share this file compile for extensions")]
    pub fn has_features(&self) -> bool {
        match self.target {
            "amd64_sysv" | "amd64_win" => native_features(),
            _ => self.stand_in.is_none(),
        }
    }

    /// The command of the C compiler that links.
    pub fn cc_command(&self) -> Vec<&'static str> {
        if self.native() { vec!["cc"] } else { self.cc.to_vec() }
    }

    /// Runs the C compiler.
    pub fn cc(&self, args: &[&OsStr]) -> Result<(), String> {
        let words = self.cc_command();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        let output = command.args(args).output().map_err(|e| format!("cc: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = text.lines().take(12).collect();
        Err(format!("cc failed:\n{}", lines.join("\n")))
    }

    /// Runs a program with QBE's three arguments. Returns its exit status (128 + n for signal n)
    /// and what it wrote.
    pub fn run(&self, program: &Path) -> Result<(i32, Vec<u8>), String> {
        let mut command = match self.emulator.filter(|_| !self.native()) {
            None => Command::new(program),
            Some(emulator) => {
                let mut command = Command::new(emulator);
                // The linker for Windows adds an ending to a name that has none.
                let ended = program.with_extension("exe");
                command.arg(if program.exists() { program } else { &ended });
                command.env("WINEDEBUG", "-all");
                command
            }
        };
        let out = program.with_extension("out");
        let file = fs::File::create(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        command.args(["a", "b", "c"]).stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| format!("{}: {e}", program.display()))?;
        let start = Instant::now();
        let mut pause = Duration::from_micros(500);
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                break status;
            }
            if start.elapsed() > LIMIT {
                child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
                return Err(format!("still running after {} s", LIMIT.as_secs()));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let mut text = fs::read(&out).map_err(|e| e.to_string())?;
        if self.emulator == Some("wine") {
            // Windows ends lines in two characters.
            text.retain(|&byte| byte != b'\r');
        }
        Ok((exit_status(status), text))
    }
}

/// Whether a tool is there. Wine's first start takes long and is done here, once.
pub fn works(tool: &str) -> bool {
    let mut command = match tool {
        "wine" => Command::new("wineboot"),
        _ => Command::new(tool),
    };
    command.arg(if tool == "wine" { "--init" } else { "--version" });
    command.env("WINEDEBUG", "-all").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

#[cfg(target_arch = "x86_64")]
fn native_features() -> bool {
    use std::arch::is_x86_feature_detected as is;
    is!("movbe") && is!("bmi2") && is!("popcnt")
}

#[cfg(not(target_arch = "x86_64"))]
fn native_features() -> bool {
    false
}

#[cfg(unix)]
fn exit_status(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(not(unix))]
fn exit_status(status: std::process::ExitStatus) -> i32 {
    status.code().unwrap_or(-1)
}

/// A folder of its own that goes away with the value, unless `KEEP=1`.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Result<Scratch, String> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("il-{}-{n}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Scratch(path))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::env::var_os("KEEP").is_none() {
            // A folder left behind harms nobody.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
