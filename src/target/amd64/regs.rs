//! Registers of x86-64, by the numbers the encoding gives them.

use crate::target::machine::{Bank, PReg, PRegSet, Registers};
use crate::target::unwind::Unwind;

pub const RAX: PReg = PReg::int(0);
pub const RCX: PReg = PReg::int(1);
pub const RDX: PReg = PReg::int(2);
pub const RBX: PReg = PReg::int(3);
/// The stack pointer: never allocated.
pub const RSP: PReg = PReg::int(4);
/// The frame pointer of functions that keep one or allocate at run time, else a register like the
/// others.
pub const RBP: PReg = PReg::int(5);
pub const RSI: PReg = PReg::int(6);
pub const RDI: PReg = PReg::int(7);
pub const R8: PReg = PReg::int(8);
pub const R9: PReg = PReg::int(9);
pub const R10: PReg = PReg::int(10);
pub const R11: PReg = PReg::int(11);
pub const R12: PReg = PReg::int(12);
pub const R13: PReg = PReg::int(13);
pub const R14: PReg = PReg::int(14);
pub const R15: PReg = PReg::int(15);

/// Vector register number `n`.
pub const fn xmm(n: u8) -> PReg {
    assert!(n < 16);
    PReg::float(n)
}

const ALL_XMM: [PReg; 16] = [
    xmm(0),
    xmm(1),
    xmm(2),
    xmm(3),
    xmm(4),
    xmm(5),
    xmm(6),
    xmm(7),
    xmm(8),
    xmm(9),
    xmm(10),
    xmm(11),
    xmm(12),
    xmm(13),
    xmm(14),
    xmm(15),
];

/// What the function that finds a thread-local of macOS may change. (dyld's changes less: of this,
/// clang too relies on the integer registers only.)
pub const TLV_CLOBBERS: PRegSet = PRegSet::of(&[RAX, RDI]).union(PRegSet::of(&ALL_XMM));

/// The registers of the System V convention. Those without a REX prefix come first.
pub static SYSV: Registers = Registers {
    int_order: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, RBX, RBP, R12, R13, R14, R15],
    float_order: &ALL_XMM,
    caller_saved: PRegSet::of(&[RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11])
        .union(PRegSet::of(&ALL_XMM)),
    callee_saved: PRegSet::of(&[RBX, RBP, R12, R13, R14, R15]),
};

/// System V ABI, AMD64 supplement, figure 3.36: the numbers of registers in DWARF.
pub static UNWIND: Unwind = Unwind {
    stack_pointer: RSP,
    frame_pointer: RBP,
    at_entry: 8,
    number: |r| match (r.bank(), r.number()) {
        (Bank::Int, n) => [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15][usize::from(n)],
        (Bank::Float, n) => 17 + u16::from(n),
    },
    return_address: 16,
    name: |out, r| super::print::push_register(out, r, 8),
};

/// The registers of the Microsoft convention ("x64 ABI conventions", callee-saved registers): rsi,
/// rdi and the upper ten vector registers belong to the caller.
pub static WIN: Registers = Registers {
    int_order: &[RAX, RCX, RDX, R8, R9, R10, R11, RBX, RSI, RDI, RBP, R12, R13, R14, R15],
    float_order: &ALL_XMM,
    caller_saved: PRegSet::of(&[RAX, RCX, RDX, R8, R9, R10, R11]).union(PRegSet::of(&[
        xmm(0),
        xmm(1),
        xmm(2),
        xmm(3),
        xmm(4),
        xmm(5),
    ])),
    callee_saved: PRegSet::of(&[RBX, RSI, RDI, RBP, R12, R13, R14, R15]).union(PRegSet::of(&[
        xmm(6),
        xmm(7),
        xmm(8),
        xmm(9),
        xmm(10),
        xmm(11),
        xmm(12),
        xmm(13),
        xmm(14),
        xmm(15),
    ])),
};
