//! The IL interpreter: runs a [`Module`] directly, parsed or in SSA form, at any stage before
//! lowering.
//!
//! It is the oracle of the passes and of the fuzzer, and what `--run` offers to people. Memory is
//! objects with bounds, calls go between IL functions and to a few libc names, and each bit of a
//! value knows whether it is defined. There is no recursion: a call pushes a row of the frame
//! stack.
//!
//! Undefined bits come from memory never stored, from above a narrow parameter or result, and from
//! what targets leave open (the payload of a NaN, a float too large for an integer). A run either
//! tracks them and stops where control, an address or output depends on one, or it freezes each to
//! an arbitrary value where it is read (see [`Undefined`]). To compare a module before and after a
//! pass: track before, freeze after, and ask [`agree`].

mod calls;
mod format;
mod libc;
mod machine;
mod memory;
mod value;

use crate::ir::{Class, Module};
pub use value::Bits;

/// An argument of the entry function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The bits of a value of the class.
    Value(Class, u64),
    /// The address of a fresh object that holds these bytes.
    Bytes(Vec<u8>),
    /// The address of an array of addresses of NUL-terminated strings, with a null at its end, as
    /// `argv` is.
    Strings(Vec<Vec<u8>>),
}

/// What happens to undefined bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// They are tracked, and the run stops where they would decide something.
    Track,
    /// Each takes an arbitrary value where it arises; the number varies which.
    Freeze(u64),
}

/// Where a run ends if the program does not.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// Instructions and jumps.
    pub steps: u64,
    /// Bytes of all objects together.
    pub memory: u64,
    /// Calls inside each other.
    pub depth: usize,
    pub undefined: Undefined,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 1 << 32, memory: 1 << 30, depth: 100_000, undefined: Undefined::Track }
    }
}

/// A fault of the program.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// An access outside every live object.
    Bounds,
    /// Division by zero, or a quotient that does not fit.
    Division,
    /// A call of something that is no function.
    Call,
    /// `hlt`.
    Halt,
    /// `abort`.
    Abort,
}

/// What the entry function returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Returned {
    Nothing,
    Value(Class, Bits),
    /// An aggregate: its bytes, and beside each its undefined bits.
    Aggregate(Vec<u8>, Vec<u8>),
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The entry function returned.
    Returned(Returned),
    /// The program called `exit`.
    Exited(i32),
    /// The program did what it must not; the text says what and where.
    Trap(Trap, String),
    /// Something depended on undefined bits; the text says what and where.
    Undefined(String),
    /// A limit was reached: its name.
    Limit(&'static str),
    /// The program needs something that is not there: the name of a symbol, or a phrase.
    Unsupported(String),
}

/// An access marked `volatile`, in the order they happened.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct VolatileAccess {
    pub write: bool,
    /// Bytes.
    pub size: u64,
    /// The bytes read or written, nothing above them (of a blit, nothing).
    pub value: Bits,
}

/// A finished run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub end: End,
    /// What the program printed.
    pub output: Vec<u8>,
    /// Positions in `output`, in order, of bytes that depend on undefined bits.
    pub unknown_output: Vec<usize>,
    /// The first of its volatile accesses.
    pub volatiles: Vec<VolatileAccess>,
    pub steps: u64,
}

/// Why the machine stops before the entry function returns.
#[derive(Debug)]
pub(crate) enum Stop {
    Exit(i32),
    Trap(Trap, String),
    Undefined(String),
    Limit(&'static str),
    Unsupported(String),
}

/// Runs the function `entry` (a symbol's name without `$`).
pub fn run(module: &Module, entry: &str, arguments: &[Argument], limits: &Limits) -> Outcome {
    machine::Machine::new(module, limits).run(entry.as_bytes(), arguments)
}

/// Runs `$main` with `arguments` as its `argv`.
pub fn run_main(module: &Module, arguments: &[Vec<u8>], limits: &Limits) -> Outcome {
    let argc = Argument::Value(Class::W, arguments.len() as u64);
    run(module, "main", &[argc, Argument::Strings(arguments.to_vec())], limits)
}

impl Outcome {
    /// The status a shell would see, or why there is none.
    pub fn status(&self) -> Result<u8, String> {
        match &self.end {
            End::Returned(Returned::Value(_, bits)) if bits.undefined & 0xff != 0 => {
                Err("the exit status depends on undefined bits".into())
            }
            End::Returned(Returned::Value(_, bits)) => Ok(bits.value as u8),
            End::Returned(_) => Ok(0),
            End::Exited(status) => Ok(*status as u8),
            End::Trap(_, message) => Err(message.clone()),
            End::Undefined(what) => Err(format!("undefined: {what}")),
            End::Limit(what) => Err(format!("limit reached: {what}")),
            End::Unsupported(what) => Err(format!("not supported by the interpreter: {what}")),
        }
    }
}

impl Outcome {
    /// Whether this run's output is `text`, but for what depends on undefined bits.
    pub fn prints(&self, text: &[u8]) -> bool {
        let mut masked = text.to_vec();
        for &i in self.unknown_output.iter().filter(|&&i| i < text.len()) {
            masked[i] = self.output[i];
        }
        masked == self.output
    }
}

/// Whether `after` does all that `before` pins down; if not, where they differ.
///
/// Nothing is pinned down by a run that reached a limit, needed what is not there, depended on
/// undefined bits or broke a rule of the language; otherwise output, result and volatile accesses
/// are, except for their undefined bits.
pub fn agree(before: &Outcome, after: &Outcome) -> Result<(), String> {
    match &before.end {
        End::Undefined(_) | End::Limit(_) | End::Unsupported(_) => return Ok(()),
        End::Trap(Trap::Bounds | Trap::Division | Trap::Call, _) => return Ok(()),
        End::Trap(Trap::Halt | Trap::Abort, _) | End::Returned(_) | End::Exited(_) => {}
    }
    if !before.prints(&after.output) {
        return Err(format!(
            "output was\n{}\nand is\n{}",
            String::from_utf8_lossy(&before.output),
            String::from_utf8_lossy(&after.output)
        ));
    }
    let same_end = match (&before.end, &after.end) {
        (End::Returned(a), End::Returned(b)) => same_result(a, b),
        (End::Trap(a, _), End::Trap(b, _)) => a == b,
        (a, b) => a == b,
    };
    if !same_end {
        return Err(format!("the end was {:?} and is {:?}", before.end, after.end));
    }
    let same_access = |(a, b): (&VolatileAccess, &VolatileAccess)| {
        a.write == b.write && a.size == b.size && same_bits(a.value, b.value)
    };
    let accesses = before.volatiles.iter().zip(&after.volatiles);
    if before.volatiles.len() != after.volatiles.len() || !accesses.into_iter().all(same_access) {
        return Err(format!(
            "volatile accesses were {:x?} and are {:x?}",
            before.volatiles, after.volatiles
        ));
    }
    Ok(())
}

/// Equal where `a` is defined.
fn same_bits(a: Bits, b: Bits) -> bool {
    (a.value ^ b.value | b.undefined) & !a.undefined == 0
}

fn same_result(a: &Returned, b: &Returned) -> bool {
    match (a, b) {
        (Returned::Value(class_a, a), Returned::Value(class_b, b)) => {
            class_a == class_b && same_bits(*a, *b)
        }
        (Returned::Aggregate(a, undefined_a), Returned::Aggregate(b, undefined_b)) => {
            let same = |i: usize| (a[i] ^ b[i] | undefined_b[i]) & !undefined_a[i] == 0;
            a.len() == b.len() && (0..a.len()).all(same)
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests;
