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
    /// On this machine, as `std::env::consts::ARCH` spells it, `cc` does and nothing is emulated.
    host: &'static str,
    cross_cc: &'static [&'static str],
    emulator: &'static str,
}

/// One row a target.
pub const TOOLCHAINS: &[Toolchain] = &[Toolchain {
    target: "amd64_sysv",
    fewest_registers: 4,
    host: "x86_64",
    cross_cc: &["x86_64-linux-gnu-gcc", "-static"],
    emulator: "qemu-x86_64",
}];

/// How long a test program may run.
const LIMIT: Duration = Duration::from_secs(20);

impl Toolchain {
    fn native(&self) -> bool {
        std::env::consts::ARCH == self.host && std::env::consts::OS == "linux"
    }

    /// What is missing on this machine, if something is.
    pub fn missing(&self) -> Option<&'static str> {
        let tools: &[&str] =
            if self.native() { &["cc"] } else { &[self.cross_cc[0], self.emulator] };
        let there = |tool: &&&str| {
            let mut command = Command::new(tool);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            !command.status().is_ok_and(|s| s.success())
        };
        tools.iter().find(there).copied()
    }

    /// Runs the C compiler.
    pub fn cc(&self, args: &[&OsStr]) -> Result<(), String> {
        let mut command = if self.native() {
            Command::new("cc")
        } else {
            let mut command = Command::new(self.cross_cc[0]);
            command.args(&self.cross_cc[1..]);
            command
        };
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
        let mut command = if self.native() {
            Command::new(program)
        } else {
            let mut command = Command::new(self.emulator);
            command.arg(program);
            command
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
        let text = fs::read(&out).map_err(|e| e.to_string())?;
        Ok((exit_status(status), text))
    }
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
