//! A test file: IL whose comments say how it is run and what must come of it.
//!
//! The format is QBE's own, so that its tests drop in, and a little more; docs/TESTING.md lists it.

use std::path::Path;

/// How long compiling a test file may take.
const DEFAULT_SECONDS: f64 = 5.0;

/// A test file, read.
pub struct Case {
    /// The path under the folder of tests, without `.ssa`.
    pub name: String,
    pub text: Vec<u8>,
    /// `# >>> driver` … `# <<<`: C that is linked with the IL.
    pub driver: Option<String>,
    /// `# >>> output` … `# <<<`: what the program writes.
    pub output: Option<String>,
    /// `# >>> call` lines.
    pub calls: Vec<CallLine>,
    /// `# skip NAME…`: targets, or `interpreter`.
    pub skip: Vec<String>,
    /// `# exit N`: the exit status.
    pub exit: i32,
    /// `# cc FLAG…`: more arguments of the C compiler that links.
    pub flags: Vec<String>,
    /// `# internal`: the IL holds ops that only passes make.
    pub internal: bool,
    /// Seconds that compiling may take.
    pub seconds: f64,
    /// Check after every pass. The checks of a large input take longer than all the rest.
    pub verify: bool,
}

/// `# >>> call f(w 1, l 2) -> w 3`: a call of a function of the file and what it returns.
#[derive(Clone)]
pub struct CallLine {
    pub line: usize,
    pub function: String,
    pub args: Vec<Typed>,
    pub result: Option<Typed>,
}

/// A value and its class letter.
#[derive(Copy, Clone)]
pub struct Typed {
    pub class: char,
    /// The bits; for `w` and `s` the low 32.
    pub bits: u64,
}

impl Typed {
    /// Whether `bits` are this value: any NaN is a NaN.
    pub fn matches(self, bits: u64) -> bool {
        match self.class {
            'w' => bits as u32 == self.bits as u32,
            's' => {
                let (got, want) = (f32::from_bits(bits as u32), f32::from_bits(self.bits as u32));
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan()
            }
            'd' => {
                let (got, want) = (f64::from_bits(bits), f64::from_bits(self.bits));
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan()
            }
            _ => bits == self.bits,
        }
    }
}

impl Case {
    /// Reads a file under `root`.
    pub fn read(root: &Path, path: &Path) -> Result<Case, String> {
        let text = std::fs::read(path).map_err(|e| e.to_string())?;
        let relative = path.strip_prefix(root).unwrap_or(path).with_extension("");
        Case::new(relative.to_string_lossy().replace('\\', "/"), text)
    }

    /// A test of this name and text.
    pub fn new(name: String, text: Vec<u8>) -> Result<Case, String> {
        let mut case = Case {
            name,
            driver: block(&text, "driver"),
            output: block(&text, "output"),
            calls: Vec::new(),
            skip: Vec::new(),
            exit: 0,
            flags: Vec::new(),
            seconds: DEFAULT_SECONDS,
            verify: true,
            internal: false,
            text,
        };
        let text = String::from_utf8_lossy(&case.text).into_owned();
        for (number, line) in text.lines().enumerate() {
            let Some(comment) = line.strip_prefix("# ") else { continue };
            let fail = |what: &str| format!("line {}: {what}: {line}", number + 1);
            if let Some(names) = comment.strip_prefix("skip ") {
                case.skip.extend(names.split_whitespace().map(String::from));
            } else if let Some(flags) = comment.strip_prefix("cc ") {
                case.flags.extend(flags.split_whitespace().map(String::from));
            } else if let Some(status) = comment.strip_prefix("exit ") {
                case.exit = status.trim().parse().map_err(|_| fail("not an exit status"))?;
            } else if comment == "internal" {
                case.internal = true;
            } else if let Some(call) = comment.strip_prefix(">>> call ") {
                let call = parse_call(number + 1, call).ok_or_else(|| fail("not a call"))?;
                case.calls.push(call);
            }
        }
        Ok(case)
    }

    pub fn skips(&self, name: &str) -> bool {
        self.skip.iter().any(|s| s == name)
    }

    /// Whether the IL defines `$main`.
    pub fn has_main(&self) -> bool {
        String::from_utf8_lossy(&self.text)
            .lines()
            .any(|l| !l.trim_start().starts_with('#') && l.contains("$main("))
    }

    /// The C that is linked with the IL: the driver, or one made of the call lines.
    pub fn c_source(&self) -> Option<String> {
        match &self.driver {
            Some(driver) => Some(driver.clone()),
            None if self.has_main() || self.calls.is_empty() => None,
            None => Some(driver_of_calls(&self.calls)),
        }
    }
}

/// The text of a block of comments. A `#` at the end of a line keeps the blanks before it.
fn block(text: &[u8], what: &str) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let mut found: Option<String> = None;
    let mut inside = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("# >>> ") {
            inside = name.trim() == what;
            if inside {
                found.get_or_insert_default();
            }
        } else if line.starts_with("# <<<") {
            inside = false;
        } else if let (true, Some(found)) = (inside, &mut found) {
            let line = line.strip_prefix("# ").or_else(|| line.strip_prefix('#')).unwrap_or(line);
            found.push_str(line.strip_suffix('#').unwrap_or(line));
            found.push('\n');
        }
    }
    found
}

fn parse_call(line: usize, text: &str) -> Option<CallLine> {
    let (head, result) = match text.rsplit_once("->") {
        Some((head, result)) => (head, Some(parse_typed(result)?)),
        None => (text, None),
    };
    let (function, args) = head.trim().strip_suffix(')')?.split_once('(')?;
    let args = args.split(',').map(str::trim).filter(|a| !a.is_empty());
    let args = args.map(parse_typed).collect::<Option<Vec<_>>>()?;
    Some(CallLine { line, function: function.trim().to_string(), args, result })
}

/// `w -1`, `l 0x10`, `s 1.5`, `d nan`.
fn parse_typed(text: &str) -> Option<Typed> {
    let (class, value) = text.trim().split_once(char::is_whitespace)?;
    let class = class.chars().next().filter(|c| class.len() == 1 && "wlsd".contains(*c))?;
    let value = value.trim();
    let bits = match class {
        's' => u64::from(value.parse::<f32>().ok()?.to_bits()),
        'd' => value.parse::<f64>().ok()?.to_bits(),
        _ => {
            let (minus, digits) = match value.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, value),
            };
            let number = match digits.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok()?,
                None => digits.parse::<u64>().ok()?,
            };
            let number = if minus { number.wrapping_neg() } else { number };
            if class == 'w' { u64::from(number as u32) } else { number }
        }
    };
    Some(Typed { class, bits })
}

/// A C program that makes the calls and tells which went wrong.
fn driver_of_calls(calls: &[CallLine]) -> String {
    let ty = |class: Option<char>| match class {
        Some('w') => "unsigned",
        Some('l') => "unsigned long long",
        Some('s') => "float",
        Some('d') => "double",
        _ => "void",
    };
    let value = |t: &Typed| match t.class {
        's' => format!("S({:#x}u)", t.bits),
        'd' => format!("D({:#x}ull)", t.bits),
        'w' => format!("{:#x}u", t.bits),
        _ => format!("{:#x}ull", t.bits),
    };
    let mut declarations = String::new();
    let mut body = String::new();
    for (n, call) in calls.iter().enumerate() {
        let classes = call.args.iter().map(|a| ty(Some(a.class))).collect::<Vec<_>>();
        let classes = if classes.is_empty() { "void".to_string() } else { classes.join(", ") };
        let result = call.result.map(|r| r.class);
        let name = &call.function;
        declarations += &format!("{} f{n}({classes}) __asm__(P \"{name}\");\n", ty(result));
        let args = call.args.iter().map(value).collect::<Vec<_>>().join(", ");
        match &call.result {
            None => body += &format!("\tf{n}({args});\n"),
            Some(want) => {
                let (line, class) = (call.line, want.class);
                body += &format!("\tcheck_{class}({line}, f{n}({args}), {});\n", value(want));
            }
        }
    }
    format!("{PRELUDE}{declarations}int main(void) {{\n{body}\treturn bad;\n}}\n")
}

const PRELUDE: &str = r#"#include <stdio.h>
#include <string.h>
#ifdef __APPLE__
#define P "_"
#else
#define P
#endif
typedef unsigned long long L;
static int bad;
static float S(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
static double D(L b) { double x; memcpy(&x, &b, 8); return x; }
static void fail(int line, L got, L want) {
	printf("line %d: got %#llx, want %#llx\n", line, got, want);
	bad = 1;
}
static void check_l(int line, L got, L want) { if (got != want) fail(line, got, want); }
static void check_w(int line, unsigned got, unsigned want) { check_l(line, got, want); }
static void check_s(int line, float got, float want) {
	unsigned g, w;
	memcpy(&g, &got, 4);
	memcpy(&w, &want, 4);
	if (got == got || want == want) check_l(line, g, w);
}
static void check_d(int line, double got, double want) {
	L g, w;
	memcpy(&g, &got, 8);
	memcpy(&w, &want, 8);
	if (got == got || want == want) check_l(line, g, w);
}
"#;
