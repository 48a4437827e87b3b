//! The seam between the shared compiler and its targets: a [`Target`] is one constant of data and
//! functions. Adding one touches its folder, [`TARGETS`] and docs/targets.

pub mod abi;
pub mod address;
pub mod amd64;
pub mod arm64;
pub mod call;
pub mod constants;
pub mod dump;
pub mod emission;
pub mod encoding;
pub mod format;
pub mod frame;
pub mod idioms;
pub mod lower;
pub mod machine;
pub mod rv64;
pub mod select;
pub mod unwind;
pub mod vaarg;
pub mod wrap;

use crate::analysis::Facts;
use crate::index::IndexVec;
use crate::ir::{Access, BlockId, Function, Module, SymbolId};
use machine::{Allocation, MFunction, MOp, PReg, Registers};
use smallvec::SmallVec;
use unwind::{FrameAction, Unwind};

/// The family of an object file.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ObjectFormat {
    Elf,
    MachO,
    Coff,
}

/// A target.
pub struct Target {
    /// The name `-t` takes.
    pub name: &'static str,
    pub format: ObjectFormat,
    /// Put before the names of symbols that are not quoted.
    pub symbol_prefix: &'static str,
    /// What local labels start with.
    pub local_prefix: &'static str,
    pub registers: &'static Registers,
    /// Selection makes good code of a `select`.
    pub has_select: bool,
    /// Bytes in front of the assembly text of every function that may be called indirectly.
    pub function_align: u32,
    /// ABI lowering and instruction selection.
    pub select: fn(&Function, &Facts, &Module, &Features) -> MFunction,
    /// Frame, prologue and epilogue: sends one allocated function to the sink.
    pub emit: fn(&EmitInput<'_>, &mut dyn Sink),
    /// How debuggers and exceptions see its frames.
    pub unwind: &'static Unwind,
    /// Its system wants a frame pointer in every function that calls.
    pub keeps_frame_pointer: bool,
    /// The names of its features, as `-m` takes them.
    pub features: &'static [&'static str],
    /// Prints what an assembler has to know before it takes the features' instructions.
    pub preamble: fn(&Features, &mut Vec<u8>),
    /// The name of a row of the instruction table, for dumps.
    pub row_name: fn(MOp) -> &'static str,
    /// Prints one instruction as a line of assembly text, without the newline.
    pub print: fn(&Instruction, &Names<'_>, &mut Vec<u8>),
    /// Object code; `None` where there is only text yet.
    pub object: Option<&'static encoding::Encoding>,
}

/// How text names things outside an instruction.
pub struct Names<'a> {
    pub module: &'a Module,
    pub target: &'a Target,
    /// The number of the function in the module, which makes its local labels unique.
    pub function: usize,
}

/// What `-m` asks for; everything is off by default.
#[derive(Copy, Clone, Default, Debug, PartialEq, Eq)]
pub struct Features {
    pub movbe: bool,
    pub bmi2: bool,
    pub popcnt: bool,
    pub zba: bool,
    pub zbb: bool,
    pub zbs: bool,
    /// Loads and stores that are not aligned are no slower.
    pub unaligned: bool,
}

impl Features {
    /// Switches on the feature of that name; false if there is none.
    pub fn enable(&mut self, name: &str) -> bool {
        let flag = match name {
            "movbe" => &mut self.movbe,
            "bmi2" => &mut self.bmi2,
            "popcnt" => &mut self.popcnt,
            "zba" => &mut self.zba,
            "zbb" => &mut self.zbb,
            "zbs" => &mut self.zbs,
            "unaligned" => &mut self.unaligned,
            _ => return false,
        };
        *flag = true;
        true
    }
}

/// What emission reads.
pub struct EmitInput<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub code: &'a MFunction,
    pub allocation: &'a Allocation,
    pub layout: &'a Layout,
    pub features: &'a Features,
    /// Something outside the module, or through a pointer, may call it: it is exported or
    /// `analysis::references::address_taken`.
    pub indirect: bool,
    /// Debug information tells of the function.
    pub debug: bool,
    /// The sink wants to know about the frame.
    pub unwind: bool,
}

/// The order of the blocks in the output.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The blocks that are written, in order; the entry first.
    pub order: Vec<BlockId>,
    /// Where a jump to a block really goes: blocks that only jump on are not written.
    pub forward: IndexVec<BlockId, BlockId>,
}

/// A final instruction: a row of the target's table and concrete operands, ready to be printed or
/// encoded.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub op: MOp,
    /// Operation size in bytes where the row comes in several.
    pub size: u8,
    /// The target's number of a condition, for rows that have one.
    pub cond: u8,
    /// In the order of the row's shape: destination first.
    pub args: SmallVec<[Arg; 4]>,
}

/// An operand of a final instruction.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Arg {
    Reg(PReg),
    Imm(i64),
    Memory(Memory),
    /// A block of the function, already forwarded.
    Block(BlockId),
    /// A symbol plus an offset, as a call or jump names it.
    Symbol(SymbolId, Access, i64),
    /// A register that is shifted or extended on the way in: the target's number of how, and by
    /// how many bits.
    Modified {
        reg: PReg,
        kind: u8,
        amount: u8,
    },
    /// The part of an address that a relocation (by the target's number) selects.
    Part {
        of: Named,
        offset: i64,
        kind: u8,
    },
}

/// What an address can be the address of.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Named {
    Symbol(SymbolId, Access),
    /// A constant in read-only data: its bits, and 4, 8 or 16 bytes.
    Pool(u64, u8),
}

/// A memory operand of a final instruction.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Memory {
    pub base: MemoryBase,
    pub index: Option<PReg>,
    /// 1, 2, 4 or 8.
    pub scale: u8,
    pub disp: i64,
}

/// The base of a final memory operand.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum MemoryBase {
    None,
    Reg(PReg),
    Symbol(SymbolId, Access),
    /// A constant in read-only data: its bits, and 4, 8 or 16 bytes.
    Pool(u64, u8),
}

/// A consumer of one function's instructions: text or object code.
pub trait Sink {
    /// The start of a block that something jumps to.
    fn block(&mut self, block: BlockId);
    /// The next instruction.
    fn instruction(&mut self, instruction: &Instruction);
    /// The source location of what follows. Column 0: none.
    fn location(&mut self, line: u32, column: u32);
    /// What the instructions so far have done to the frame.
    fn frame(&mut self, action: FrameAction);
}

/// All targets, in the order help prints them.
pub static TARGETS: &[&Target] =
    &[&amd64::SYSV, &amd64::APPLE, &amd64::WIN, &arm64::ELF, &arm64::APPLE, &rv64::RV64];

/// The target of that name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().copied().find(|t| t.name == name)
}
