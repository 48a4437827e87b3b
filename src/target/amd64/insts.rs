//! THE instruction table of amd64: one row an instruction (or a short fixed sequence that selection
//! treats as one). Selection writes rows, emission turns them into final instructions, and the
//! sinks print or encode those.
//!
//! The order of `MInst` operands is the [`Shape`]'s: the definition first, then the register uses
//! in the order of the doc comment, then the registers of the address (base before index). A
//! memory operand is `MInst::address`. `size` is the operation size (1, 2, 4 or 8) unless a row
//! says otherwise; a 4-byte operation leaves zeros in the upper half of its destination.

use crate::target::machine::{MOp, op};

/// Which operands a row has.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// No register operand, no immediate.
    None,
    /// `[def]`
    D,
    /// `[def]` and `imm`
    DI,
    /// `[def, use]`: not tied. The use may be in a spill slot (`Any`) where the comment says so.
    DU,
    /// `[def, use]` and `imm`: not tied
    DUI,
    /// `[def, use, use]`: not tied
    DUU,
    /// `[def, address…]`
    DM,
    /// `[def, address…]` and `imm`
    DMI,
    /// `[def = use 1, use]`: in place
    T,
    /// `[def = use 1, use]` and `imm`: in place
    TI,
    /// `[def = use 1, use, use]`: in place; the last is the source and may be in a spill slot
    TU,
    /// `[def = use 1, use, use in rcx]`: in place
    TC,
    /// `[def = use 1, use, address…]`: in place, source in memory
    TM,
    /// `[use]`
    U,
    /// `[use]` and `imm`; the use may be in a spill slot
    UI,
    /// `[use, use]`: first operand, second operand (as Intel writes them); the second may be in a
    /// spill slot
    UU,
    /// `[use, address…]`
    UM,
    /// `[address…]`
    M,
    /// `[address…]` and `imm`
    MI,
    /// As the row's comment says.
    Special,
}

/// What a row does to the flags.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Flags {
    /// Neither reads nor writes them. Where emission has a choice of encodings, it takes one that
    /// keeps them if they are live.
    Keep,
    /// Leaves something in them.
    Write,
    /// Reads them.
    Read,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub shape: Shape,
    pub flags: Flags,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident $shape:ident $flags:ident;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Number { $($name,)* }
        $($(#[$doc])* pub const $name: MOp = op::FIRST_TARGET + Number::$name as MOp;)*
        static ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            shape: Shape::$shape,
            flags: Flags::$flags,
        },)*];
    };
}

/// The row of a target instruction (`op >= FIRST_TARGET`).
pub fn row(number: MOp) -> &'static Row {
    &ROWS[usize::from(number - op::FIRST_TARGET)]
}

// Suffixes: R register, M memory, I immediate, C the count in cl; destination first.
rows! {
    // Constants and addresses.
    /// `imm` into a register: xor where the flags are dead, else the shortest mov.
    MOV_RI DI Keep;
    /// The address (lea). Also with base `Symbol(_, Direct)`: `sym+disp(%rip)`.
    LEA DM Keep;
    /// Address of a thread-local symbol: base `Symbol(_, Thread)` plus disp. Two instructions:
    /// `mov %fs:0, d; lea sym@tpoff+disp(d), d`.
    LEA_THREAD DM Keep;
    /// The thread pointer: `mov %fs:0, d`.
    MOV_THREAD D Keep;

    // Integer moves. Memory bases: `Symbol(_, Direct)` is `sym+disp(%rip)`, without an index;
    // `Symbol(_, Extern)` is the cell `sym@GOTPCREL(%rip)`; `Symbol(_, ExternThread)` is
    // `sym@gottpoff(%rip)`; `Symbol(_, Thread)` is `%fs:sym@tpoff+disp(index)`.
    /// Load, size 4 or 8.
    MOV_RM DM Keep;
    /// Store, size 1 to 8.
    MOV_MR UM Keep;
    /// Store of an immediate, size 1 to 8; it fits 32 bits sign-extended.
    MOV_MI MI Keep;
    /// Zero-extension of the low `size` (1, 2, 4) bytes of a register or spill slot to 8 bytes.
    MOVZX_RR DU Keep;
    /// Load of `size` (1, 2) bytes, zero-extended to 8.
    MOVZX_RM DM Keep;
    /// Sign-extension of the low `size` (1, 2) bytes to 4.
    MOVSX4_RR DU Keep;
    MOVSX4_RM DM Keep;
    /// Sign-extension of the low `size` (1, 2, 4) bytes to 8.
    MOVSX8_RR DU Keep;
    MOVSX8_RM DM Keep;

    // Two-operand arithmetic without a tie: emission takes add/sub/inc or lea, whatever the
    // registers ask for. Size 4 or 8. They count as writers of flags but nothing may read them.
    ADD3_RR DUU Write;
    ADD3_RI DUI Write;

    // In place. `_RR`: the source may be in a spill slot.
    ADD_RR TU Write;
    ADD_RI TI Write;
    ADD_RM TM Write;
    ADD_MR UM Write;
    ADD_MI MI Write;
    SUB_RR TU Write;
    SUB_RI TI Write;
    SUB_RM TM Write;
    SUB_MR UM Write;
    SUB_MI MI Write;
    AND_RR TU Write;
    AND_RI TI Write;
    AND_RM TM Write;
    AND_MR UM Write;
    AND_MI MI Write;
    OR_RR TU Write;
    OR_RI TI Write;
    OR_RM TM Write;
    OR_MR UM Write;
    OR_MI MI Write;
    XOR_RR TU Write;
    XOR_RI TI Write;
    XOR_RM TM Write;
    XOR_MR UM Write;
    XOR_MI MI Write;
    IMUL_RR TU Write;
    IMUL_RM TM Write;
    /// `imul $imm, use, def`: not tied; the use may be in a spill slot.
    IMUL_RRI DUI Write;
    IMUL_RMI DMI Write;
    NEG_R T Write;
    NEG_M M Write;
    NOT_R T Keep;
    NOT_M M Keep;
    BSWAP_R T Keep;

    // Shifts by an immediate or by cl, size 4 or 8 (memory: 1 to 8).
    SHL_RI TI Write;
    SHL_RC TC Write;
    SHL_MI MI Write;
    SHR_RI TI Write;
    SHR_RC TC Write;
    SHR_MI MI Write;
    SAR_RI TI Write;
    SAR_RC TC Write;
    SAR_MI MI Write;
    ROL_RI TI Write;
    ROL_RC TC Write;
    ROR_RI TI Write;
    ROR_RC TC Write;

    // Division and double-width products.
    /// `[def in rdx, use in rax]`: cltd, cqto.
    CDQ Special Keep;
    /// `[def quotient in rax, def remainder in rdx, use rax, use rdx, divisor]`; the divisor may
    /// be in a spill slot.
    DIV_R Special Write;
    /// The same, divisor in memory: `[.., address…]`.
    DIV_M Special Write;
    IDIV_R Special Write;
    IDIV_M Special Write;
    /// `[def low in rax, def high in rdx, use rax, factor]`; the factor may be in a spill slot.
    MUL_R Special Write;
    IMUL1_R Special Write;

    // Comparisons: `CMP a, b` sets the flags of a - b. Size 1 to 8.
    CMP_RR UU Write;
    CMP_RI UI Write;
    /// Register with memory: reg - memory.
    CMP_RM UM Write;
    /// Memory with register: memory - reg.
    CMP_MR UM Write;
    CMP_MI MI Write;
    TEST_RR UU Write;
    TEST_RI UI Write;
    TEST_MR UM Write;
    TEST_MI MI Write;

    // Users of flags. `cond` is a number of `cond`.
    /// Sets the low byte of a register to 0 or 1, keeps the rest: `[def = use 1, use]`. The use
    /// is a zero made before the compare. No float pairs here.
    SETCC_R T Read;
    /// Sets a register to 0 or 1: setcc, then movzbl.
    SETCC_ZX D Read;
    /// Terminator: to the first successor on `cond`, else to the second. `FEQ`, `FNE`: two jumps.
    JCC None Read;
    /// `[def = use 1, use if not cond, use if cond]`; the last may be in a spill slot. Size 4, 8.
    CMOV_RR TU Read;
    /// `[def = use 1, use if not cond, address…]`
    CMOV_RM TM Read;

    // Floats, size 4 (ss) or 8 (sd).
    /// Zero (xorps).
    FZERO D Keep;
    FMOV_RM DM Keep;
    FMOV_MR UM Keep;
    /// Store of all 16 bytes of a vector register (movups): the save area of a variadic function.
    FMOV16_MR UM Keep;
    FADD_RR TU Keep;
    FADD_RM TM Keep;
    FSUB_RR TU Keep;
    FSUB_RM TM Keep;
    FMUL_RR TU Keep;
    FMUL_RM TM Keep;
    FDIV_RR TU Keep;
    FDIV_RM TM Keep;
    /// Bitwise, on 16 bytes (andps, xorps). `_RR`: both in registers. `_RM`: memory is a `Pool` of
    /// 16 bytes (low half as given, upper half zero, aligned 16).
    FAND_RR TU Keep;
    FAND_RM TM Keep;
    FXOR_RR TU Keep;
    FXOR_RM TM Keep;
    /// ucomiss/ucomisd: flags of first against second operand; the second may be in a spill slot.
    UCOMI_RR UU Write;
    UCOMI_RM UM Write;
    /// Integer to float; `size` is the integer's. The use may be in a spill slot.
    CVTSI2SS_RR DU Keep;
    CVTSI2SS_RM DM Keep;
    CVTSI2SD_RR DU Keep;
    CVTSI2SD_RM DM Keep;
    /// Float to integer, truncating; `size` is the integer's. The use may be in a spill slot.
    CVTTSS2SI_RR DU Keep;
    CVTTSS2SI_RM DM Keep;
    CVTTSD2SI_RR DU Keep;
    CVTTSD2SI_RM DM Keep;
    CVTSS2SD_RR DU Keep;
    CVTSS2SD_RM DM Keep;
    CVTSD2SS_RR DU Keep;
    CVTSD2SS_RM DM Keep;
    /// Bits of a float register into an integer register, size 4 or 8 (movd, movq). The use may be
    /// in a spill slot.
    MOVD_RF DU Keep;
    /// Bits of an integer register into a float register.
    MOVD_FR DU Keep;

    // Copies of memory.
    /// `[scratch EarlyDef, registers of the source address…, of the destination address…]`: copies
    /// `imm` (1 to 256) bytes; `address` is the source, `address + 1` (the next row of the table)
    /// the destination; their operand numbers count from the start of the whole list. The scratch
    /// is a float register if `imm >= 4`, else an integer one. The areas are apart or the same, so
    /// chunks may overlap (13 bytes: 8 at 0, 8 at 5) and go in any order.
    BLIT Special Keep;
    /// rep movsb (size 1), rep movsq (size 8): `[use rdi, use rsi, use rcx]`, all destroyed.
    REP_MOVS Special Keep;

    // Calls and the stack.
    /// `[defs of results…, uses of arguments…]`; the callee is `address`: base
    /// `Symbol(_, Direct)`: `call sym+disp`; `Symbol(_, Extern)`, disp 0: `call sym@PLT`.
    CALL Special Write;
    /// The callee's address is in the register operand of number `imm`.
    CALL_R Special Write;
    /// The callee's address is in memory at `address`, operands of the address come last.
    CALL_M Special Write;
    /// `[def, use]`: subtracts the use (a multiple of 16) from rsp, then `lea outgoing(%rsp), def`.
    ALLOC_R DU Write;
    /// `[def]` and `imm`: the same with a constant.
    ALLOC_I DI Write;
}

/// Numbers of conditions (`MInst::cond`): the encoding's, and two that take two jumps.
pub mod cond {
    pub const O: u8 = 0;
    pub const NO: u8 = 1;
    pub const B: u8 = 2;
    pub const AE: u8 = 3;
    pub const E: u8 = 4;
    pub const NE: u8 = 5;
    pub const BE: u8 = 6;
    pub const A: u8 = 7;
    pub const S: u8 = 8;
    pub const NS: u8 = 9;
    pub const P: u8 = 10;
    pub const NP: u8 = 11;
    pub const L: u8 = 12;
    pub const GE: u8 = 13;
    pub const LE: u8 = 14;
    pub const G: u8 = 15;
    /// Equal and ordered, after `UCOMI`: `E` and `NP`. Only of `JCC`.
    pub const FEQ: u8 = 16;
    /// Not equal or unordered: `NE` or `P`. Only of `JCC`.
    pub const FNE: u8 = 17;

    /// The opposite condition.
    pub const fn negated(cond: u8) -> u8 {
        cond ^ 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_names() {
        assert_eq!(row(MOV_RI).name, "MOV_RI");
        assert_eq!(row(ALLOC_I).name, "ALLOC_I");
    }
}
