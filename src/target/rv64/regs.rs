//! Registers of RISC-V, by the numbers the encoding gives them, and their ABI names (psABI, chapter
//! "Register Convention").

use crate::target::machine::{Bank, PReg, PRegSet, Registers};
use crate::target::unwind::Unwind;

/// Always 0.
pub const ZERO: PReg = PReg::int(0);
/// The return address: never allocated.
pub const RA: PReg = PReg::int(1);
/// The stack pointer: never allocated.
pub const SP: PReg = PReg::int(2);
pub const TP: PReg = PReg::int(4);
/// The frame pointer of functions that keep one; what the frame is addressed by in functions that
/// allocate at run time; else a register like the others.
pub const S0: PReg = PReg::int(8);
pub const A0: PReg = a(0);
pub const A1: PReg = a(1);
pub const T5: PReg = PReg::int(30);
/// The scratch register of emission: never allocated, and dead between two instructions of
/// selection.
pub const T6: PReg = PReg::int(31);

/// Integer argument register number `n`.
pub const fn a(n: u8) -> PReg {
    assert!(n < 8);
    PReg::int(10 + n)
}

/// Float argument register number `n`.
pub const fn fa(n: u8) -> PReg {
    assert!(n < 8);
    PReg::float(10 + n)
}

/// Integer registers by number.
static INT_NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// Float registers by number.
static FLOAT_NAMES: [&str; 32] = [
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2",
    "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",
    "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];

/// The name of a register in assembly text.
pub fn name(r: PReg) -> &'static str {
    match r.bank() {
        Bank::Int => INT_NAMES[usize::from(r.number())],
        Bank::Float => FLOAT_NAMES[usize::from(r.number())],
    }
}

/// Temporaries in integer registers. Compressed loads, stores and most compressed arithmetic reach
/// x8 to x15 only, so these come first of their kind.
const INT_ORDER: [PReg; 26] = [
    PReg::int(15),
    PReg::int(14),
    PReg::int(13),
    PReg::int(12),
    PReg::int(11),
    PReg::int(10),
    PReg::int(16),
    PReg::int(17),
    PReg::int(5),
    PReg::int(6),
    PReg::int(7),
    PReg::int(28),
    PReg::int(29),
    PReg::int(30),
    PReg::int(8),
    PReg::int(9),
    PReg::int(18),
    PReg::int(19),
    PReg::int(20),
    PReg::int(21),
    PReg::int(22),
    PReg::int(23),
    PReg::int(24),
    PReg::int(25),
    PReg::int(26),
    PReg::int(27),
];

/// Temporaries in float registers; f8 to f15 are the ones that compressed instructions reach.
const FLOAT_ORDER: [PReg; 32] = [
    PReg::float(15),
    PReg::float(14),
    PReg::float(13),
    PReg::float(12),
    PReg::float(11),
    PReg::float(10),
    PReg::float(16),
    PReg::float(17),
    PReg::float(0),
    PReg::float(1),
    PReg::float(2),
    PReg::float(3),
    PReg::float(4),
    PReg::float(5),
    PReg::float(6),
    PReg::float(7),
    PReg::float(28),
    PReg::float(29),
    PReg::float(30),
    PReg::float(31),
    PReg::float(8),
    PReg::float(9),
    PReg::float(18),
    PReg::float(19),
    PReg::float(20),
    PReg::float(21),
    PReg::float(22),
    PReg::float(23),
    PReg::float(24),
    PReg::float(25),
    PReg::float(26),
    PReg::float(27),
];

/// s0 to s11, fs0 to fs11.
const SAVED: PRegSet = PRegSet(0x0ffc_0300_0ffc_0300);

/// The registers of the lp64d convention.
pub static LP64D: Registers = Registers {
    int_order: &INT_ORDER,
    float_order: &FLOAT_ORDER,
    caller_saved: PRegSet::of(&INT_ORDER).union(PRegSet::of(&FLOAT_ORDER)).without(SAVED),
    callee_saved: SAVED,
};

/// psABI, chapter "DWARF": x0 to x31 are 0 to 31, f0 to f31 are 32 to 63.
pub static UNWIND: Unwind = Unwind {
    stack_pointer: SP,
    frame_pointer: S0,
    at_entry: 0,
    number: |r| r.index() as u16,
    return_address: RA.index() as u16,
    name: |out, r| out.extend_from_slice(name(r).as_bytes()),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_registers_are_those_named_s() {
        for n in 0..64 {
            let r = PReg::from_index(n);
            let saved = name(r).trim_start_matches('f').starts_with('s') && r != SP;
            assert_eq!(LP64D.callee_saved.contains(r), saved, "{}", name(r));
        }
    }

    #[test]
    fn only_fixed_registers_are_not_allocated() {
        let all = LP64D.caller_saved.union(LP64D.callee_saved);
        let fixed: Vec<&str> =
            (0..64).map(PReg::from_index).filter(|&r| !all.contains(r)).map(name).collect();
        assert_eq!(fixed, ["zero", "ra", "sp", "gp", "tp", "t6"]);
    }
}
