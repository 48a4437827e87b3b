//! Registers of AArch64, by the numbers the encoding gives them.
//!
//! x18 is the platform's (AAPCS64 6.1.1 leaves it to the system, Apple forbids it), x16 is what
//! emission writes to when an operand is out of reach, x30 is the return address. None of them is
//! allocated.

use crate::target::format::push_unsigned;
use crate::target::machine::{Bank, PReg, PRegSet, Registers};
use crate::target::unwind::Unwind;

/// Integer register number `n`.
pub const fn x(n: u8) -> PReg {
    assert!(n < 31);
    PReg::int(n)
}

/// Vector register number `n`, of which the low 4, 8 or 16 bytes are used.
pub const fn v(n: u8) -> PReg {
    PReg::float(n)
}

/// What emission may write at any time.
pub const SCRATCH: PReg = x(16);
/// The frame pointer of functions that keep one (on Apple all that call) or allocate at run time.
pub const FP: PReg = x(29);
/// The return address.
pub const LR: PReg = x(30);
/// The stack pointer or, in operands that have no stack pointer, the register of zeros: the same
/// number in the encoding.
pub const SP: PReg = PReg::int(31);
pub const ZERO: PReg = SP;

/// Registers `from..to` of a bank.
const fn range(from: PReg, count: usize) -> PRegSet {
    PRegSet(((1 << count) - 1) << from.index())
}

/// What a call destroys (AAPCS64 6.1.1, 6.1.2). Of v8 to v15 it keeps the low 8 bytes, and no more
/// than that is ever in them.
const DESTROYED: PRegSet =
    range(x(0), 16).union(range(x(17), 1)).union(range(v(0), 8)).union(range(v(16), 16));

/// Registers that keep their values over calls come last, argument registers late ones first.
const FLOATS: [PReg; 32] = [
    v(0),
    v(1),
    v(2),
    v(3),
    v(4),
    v(5),
    v(6),
    v(7),
    v(16),
    v(17),
    v(18),
    v(19),
    v(20),
    v(21),
    v(22),
    v(23),
    v(24),
    v(25),
    v(26),
    v(27),
    v(28),
    v(29),
    v(30),
    v(31),
    v(8),
    v(9),
    v(10),
    v(11),
    v(12),
    v(13),
    v(14),
    v(15),
];

const INTS: [PReg; 28] = [
    x(0),
    x(1),
    x(2),
    x(3),
    x(4),
    x(5),
    x(6),
    x(7),
    x(8),
    x(9),
    x(10),
    x(11),
    x(12),
    x(13),
    x(14),
    x(15),
    x(17),
    x(19),
    x(20),
    x(21),
    x(22),
    x(23),
    x(24),
    x(25),
    x(26),
    x(27),
    x(28),
    FP,
];

/// ELF: x29 is a register like the others where nothing is allocated at run time.
pub static ELF: Registers = Registers {
    int_order: &INTS,
    float_order: &FLOATS,
    caller_saved: DESTROYED,
    callee_saved: range(x(19), 11).union(range(v(8), 8)),
};

/// Apple: x29 always points to a frame record.
pub static APPLE: Registers = Registers {
    int_order: INTS.split_at(27).0,
    float_order: &FLOATS,
    caller_saved: DESTROYED,
    callee_saved: range(x(19), 10).union(range(v(8), 8)),
};

/// DWARF for the Arm 64-bit Architecture, 4.1: 0 to 30, the stack pointer 31, vector registers from 64.
pub static UNWIND: Unwind = Unwind {
    stack_pointer: SP,
    frame_pointer: FP,
    at_entry: 0,
    number: dwarf_number,
    return_address: 30,
    name: |out, r| push_unsigned(out, u64::from(dwarf_number(r))),
};

fn dwarf_number(r: PReg) -> u16 {
    match r.bank() {
        Bank::Int => u16::from(r.number()),
        Bank::Float => 64 + u16::from(r.number()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_has_one_role() {
        for (registers, ints) in [(&ELF, 28), (&APPLE, 27)] {
            let all = registers.caller_saved.union(registers.callee_saved);
            assert!(registers.caller_saved.intersection(registers.callee_saved).is_empty());
            assert_eq!(PRegSet::of(registers.int_order), all.in_bank(Bank::Int));
            assert_eq!(PRegSet::of(registers.float_order), all.in_bank(Bank::Float));
            assert_eq!((registers.int_order.len(), registers.float_order.len()), (ints, 32));
            assert!(![SCRATCH, x(18), LR, SP].iter().any(|&r| all.contains(r)));
        }
        assert!(ELF.callee_saved.contains(FP) && !APPLE.callee_saved.contains(FP));
    }
}
