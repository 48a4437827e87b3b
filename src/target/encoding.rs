//! What a target does for object code: final instructions become bytes, and fixups where a byte
//! depends on what only the linker or the rest of the file knows.

use super::Instruction;
use crate::ir::{BlockId, SymbolId, Width};

/// The object code of one target: data and functions, as in [`Target`](super::Target).
pub struct Encoding {
    pub machine: Machine,
    /// Appends one instruction. Jumps to blocks go to [`Code::jumps`].
    pub encode: fn(&Instruction, &mut Code),
    /// The forms of a jump of that kind, the shortest first. The last reaches everywhere.
    pub forms: fn(kind: u8) -> &'static [Form],
    /// Appends a jump in that form; `distance` counts from its first byte.
    pub jump: fn(jump: &Jump, form: usize, distance: i64, out: &mut Vec<u8>),
    /// By the numbers that fixups have.
    pub relocations: &'static [Relocation],
    /// The relocation of an address in data.
    pub address: fn(Width) -> u8,
    /// Puts the value of a fixup of that kind where it belongs: at the start of the bytes.
    pub resolve: fn(kind: u8, value: i64, at: &mut [u8]),
    /// Appends that many bytes of code that does nothing.
    pub pad: fn(count: usize, out: &mut Vec<u8>),
}

/// An instruction set, as object files number them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Machine {
    X86_64,
    Aarch64,
    Riscv64,
}

/// A relocation of a target.
#[derive(Copy, Clone, Debug)]
pub struct Relocation {
    /// Its number in ELF.
    pub elf: u32,
    /// Counts from where it stands.
    pub relative: bool,
    /// Wants the symbol itself, even if that is local: what is looked up is an entry of a table
    /// made for it, or its place among the thread's.
    pub named: bool,
    /// The symbol is thread-local.
    pub thread: bool,
    /// The relocation to use if the symbol is local.
    pub local: u8,
}

/// Something that the bytes at `at` need to be told.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Fixup {
    /// Counts in the same bytes as [`Place::at`] until the jumps are settled.
    pub at: u64,
    pub addend: i64,
    pub to: Goal,
    /// The target's number of a relocation.
    pub kind: u8,
}

/// What a fixup is about.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Goal {
    Symbol(SymbolId),
    /// A symbol that the system defines, whatever the module says.
    System(&'static str),
    /// A constant in read-only data: its bits, and 4, 8 or 16 bytes.
    Pool(u64, u8),
}

/// A form of a jump.
#[derive(Copy, Clone, Debug)]
pub struct Form {
    /// In bytes, at least 2.
    pub length: u8,
    /// The least and the greatest distance, from the first byte of the jump.
    pub least: i64,
    pub greatest: i64,
}

/// A jump to a block.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Jump {
    /// Where it is to be put in [`Code::bytes`].
    pub at: u32,
    pub to: BlockId,
    /// The target's number of a kind of jumps.
    pub kind: u8,
    /// What of the instruction is known, if the target wants to remember it.
    pub bits: u32,
}

/// A place in code whose jumps have no length yet: after that many bytes and that many jumps.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    pub at: u32,
    pub jumps: u32,
}

/// The code of a function as encoding leaves it.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// All but the jumps.
    pub bytes: Vec<u8>,
    pub jumps: Vec<Jump>,
    pub fixups: Vec<Fixup>,
}

impl Code {
    /// Where the next instruction goes.
    pub fn place(&self) -> Place {
        Place { at: self.bytes.len() as u32, jumps: self.jumps.len() as u32 }
    }

    /// Appends a jump.
    pub fn jump(&mut self, to: BlockId, kind: u8, bits: u32) {
        self.jumps.push(Jump { at: self.bytes.len() as u32, to, kind, bits });
    }

    /// Says that the bytes which come next depend on something.
    pub fn fix(&mut self, kind: u8, to: Goal, addend: i64) {
        self.fixups.push(Fixup { at: self.bytes.len() as u64, addend, to, kind });
    }
}
