//! What a compilation is asked to do: plain values, no globals.

use crate::target::{Features, Target};

/// How hard to work on the code.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Level {
    /// Only what makes the input compilable.
    O0,
    /// Everything that pays.
    #[default]
    O1,
}

/// What the output is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Emit {
    /// Assembly text.
    #[default]
    Assembly,
    /// An object file.
    Object,
    /// The IL as it stands after the function passes.
    Il,
}

/// The options of one compilation. `Options::new(target)` is what the command line does by default.
#[derive(Clone)]
pub struct Options {
    pub target: &'static Target,
    pub features: Features,
    pub level: Level,
    pub emit: Emit,
    /// Threads to work on; 0: as many as the machine has, for inputs large enough to gain.
    pub threads: usize,
    /// Check the function after every pass, and the register allocation.
    pub verify: bool,
    /// At most that many registers of each bank for temporaries.
    pub max_regs: Option<u32>,
    /// Tell debuggers, profilers and exceptions about frames.
    pub unwind: bool,
    /// Keep a frame pointer in every function that calls, for those who walk frames without
    /// looking into tables. On `arm64_apple` that is always so.
    ///
    /// ```
    /// use backend::{Input, Options, compile, target};
    ///
    /// let text = b"export function $f() {\n@start\n\tcall $g()\n\tcall $g()\n\tret\n}\n";
    /// let mut options = Options::new(target::by_name("amd64_sysv").unwrap());
    /// options.frame_pointer = true;
    /// let output = compile(&[Input { name: "f.ssa", text }], &options).unwrap();
    /// assert!(String::from_utf8(output.bytes).unwrap().contains("movq %rsp, %rbp"));
    /// ```
    pub frame_pointer: bool,
    /// Give every function that names no section one of its own, so that a linker can leave out
    /// what nothing refers to (`--gc-sections`). Linkers of Mach-O can in any case.
    ///
    /// ```
    /// use backend::{Input, Options, compile, target};
    ///
    /// let text = b"function $f() {\n@start\n\tret\n}\n";
    /// let mut options = Options::new(target::by_name("amd64_sysv").unwrap());
    /// options.function_sections = true;
    /// let output = compile(&[Input { name: "f.ssa", text }], &options).unwrap();
    /// assert!(String::from_utf8(output.bytes).unwrap().contains(".section \".text.f\""));
    /// ```
    pub function_sections: bool,
    /// The same for data.
    pub data_sections: bool,
    /// Debug information tells of all functions, not only of those with a `dbgfile`.
    pub debug: bool,
    /// The parser takes ops that only passes write.
    pub internal_ops: bool,
    /// Passes not to run, by name.
    pub disable: Vec<String>,
    /// End after this pass; the output is the IL there.
    pub stop_after: Option<String>,
    /// Dump every function after these passes.
    pub dump_after: Vec<String>,
    /// QBE's `-d` letters: dump at those stages, and make no output.
    pub dump_letters: Vec<char>,
    /// Run only the first that many applications of passes, counted over the functions in order.
    pub bisect: Option<u64>,
}

impl Options {
    pub fn new(target: &'static Target) -> Options {
        Options {
            target,
            features: Features::default(),
            level: Level::default(),
            emit: Emit::default(),
            threads: 0,
            verify: false,
            max_regs: None,
            unwind: true,
            frame_pointer: false,
            function_sections: false,
            data_sections: false,
            debug: false,
            internal_ops: false,
            disable: Vec::new(),
            stop_after: None,
            dump_after: Vec::new(),
            dump_letters: Vec::new(),
            bisect: None,
        }
    }
}
