//! What calling conventions are made of: where arguments, parameters and results are. A target has
//! one [`Convention`] a name; `call` applies it.

use super::machine::{PReg, Registers};
use crate::ir::{AbiType, Module};
use smallvec::SmallVec;

/// A register, or a place among the stack arguments.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Spot {
    Reg(PReg),
    /// The offset of it from the first stack argument.
    Stack(u64),
}

/// A piece of an aggregate that is passed by itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub at: Spot,
    /// Where it starts in the aggregate.
    pub offset: u64,
    /// How many bytes of the aggregate it holds: 1 to 8.
    pub bytes: u8,
}

/// Where an argument, a parameter or a result is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A scalar in a register; if that is of the other file, its bits.
    Reg(PReg),
    /// A scalar in a float register, and its bits in an integer register too.
    Both { float: PReg, int: PReg },
    /// A scalar on the stack, and how many bytes of the stack are its own.
    Stack { offset: u64, bytes: u8 },
    /// An aggregate in pieces.
    Pieces(SmallVec<[Piece; 4]>),
    /// An aggregate on the stack. As a result: in the memory that the hidden pointer names.
    StackAggregate(u64),
    /// The address of a copy of an aggregate, which the caller made.
    Reference(Spot),
    /// An aggregate without bytes.
    Nothing,
}

/// Where everything of a call or of a function's parameters goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// Where the address of the result's memory is passed, if the result is in memory.
    pub hidden: Option<PReg>,
    /// One an argument.
    pub places: Vec<Place>,
    /// Bytes of stack arguments, and of what the convention sets aside before them.
    pub stack: u64,
    /// Integer and float argument registers that are taken.
    pub ints: usize,
    pub floats: usize,
}

/// The types of a call or a function.
#[derive(Copy, Clone, Debug)]
pub struct Signature<'a> {
    pub ret: Option<AbiType>,
    pub args: &'a [AbiType],
    /// How many of `args` stand before the `...`: all of them if there is none, and in a function's
    /// own parameters.
    pub named: usize,
    pub variadic: bool,
}

/// A calling convention.
pub struct Convention {
    pub registers: &'static Registers,
    pub assign: fn(&Module, &Signature<'_>) -> Assignment,
    /// Where a result is.
    pub result: fn(&Module, AbiType) -> Place,
    /// Where `env` goes.
    pub env: PReg,
    /// Where `env` goes if the call is variadic.
    pub env_variadic: PReg,
    /// The register that tells a variadic function how many float registers hold arguments.
    pub vector_count: Option<PReg>,
    /// Where the address of a result in memory is returned.
    pub hidden_result: Option<PReg>,
}
