//! THE instruction table of amd64: one row an instruction (or a short fixed sequence that selection
//! treats as one). Selection writes rows, emission turns them into final instructions, and the
//! sinks print or encode those.
//!
//! The order of `MInst` operands is the [`Shape`]'s: the definition first, then the register uses
//! in the order of the doc comment, then the registers of the address (base before index). A
//! memory operand is `MInst::address`. `size` is the operation size (1, 2, 4 or 8) unless a row
//! says otherwise; a 4-byte operation leaves zeros in the upper half of its destination.

use super::codes::Code;
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
    /// `[use, address…]`: memory is the second operand, as Intel writes them
    UM,
    /// `[use, address…]`: memory is the first operand
    MU,
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
    /// The machine instruction it becomes, or the chief one of several.
    pub code: Code,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident $shape:ident $flags:ident $code:ident;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Number { $($name,)* }
        $($(#[$doc])* pub const $name: MOp = op::FIRST_TARGET + Number::$name as MOp;)*
        static ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            shape: Shape::$shape,
            flags: Flags::$flags,
            code: Code::$code,
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
    MOV_RI DI Keep Mov;
    /// The address (lea). Also with base `Symbol(_, Direct)`: `sym+disp(%rip)`.
    LEA DM Keep Lea;
    /// Address of a thread-local symbol: base `Symbol(_, Thread)` plus disp. Two instructions:
    /// `mov %fs:0, d; lea sym@tpoff+disp(d), d`.
    LEA_THREAD DM Keep Lea;
    /// The thread pointer: `mov %fs:0, d`.
    MOV_THREAD D Keep MovFs;
    /// The number of the module's thread-local block, and the table of the thread's blocks (COFF).
    TLS_INDEX D Keep MovTlsIndex;
    TLS_TABLE D Keep MovTlsTable;

    // Integer moves. Memory bases: `Symbol(_, Direct)` is `sym+disp(%rip)`, without an index;
    // `Symbol(_, Extern)` is the cell `sym@GOTPCREL(%rip)`; `Symbol(_, ExternThread)` is
    // `sym@gottpoff(%rip)`; `Symbol(_, Thread)` is `%fs:sym@tpoff+disp(index)`. On COFF the cell is
    // `.refptr.sym(%rip)`, and `Thread` is `sym@SECREL32(index)`; on Mach-O the latter is the cell
    // of the descriptor, `sym@TLVP(%rip)`.
    /// Load, size 4 or 8.
    MOV_RM DM Keep Mov;
    /// Store, size 1 to 8.
    MOV_MR MU Keep Mov;
    /// Store of an immediate, size 1 to 8; it fits 32 bits sign-extended.
    MOV_MI MI Keep Mov;
    /// Zero-extension of the low `size` (1, 2, 4) bytes of a register or spill slot to 8 bytes.
    MOVZX_RR DU Keep Movzx;
    /// Load of `size` (1, 2) bytes, zero-extended to 8.
    MOVZX_RM DM Keep Movzx;
    /// Sign-extension of the low `size` (1, 2) bytes to 4.
    MOVSX4_RR DU Keep Movsx4;
    MOVSX4_RM DM Keep Movsx4;
    /// Sign-extension of the low `size` (1, 2, 4) bytes to 8.
    MOVSX8_RR DU Keep Movsx8;
    MOVSX8_RM DM Keep Movsx8;

    // Two-operand arithmetic without a tie: emission takes add/sub/inc or lea, whatever the
    // registers ask for. Size 4 or 8. They count as writers of flags but nothing may read them.
    ADD3_RR DUU Write Add;
    ADD3_RI DUI Write Add;

    // In place. `_RR`: the source may be in a spill slot.
    ADD_RR TU Write Add;
    ADD_RI TI Write Add;
    ADD_RM TM Write Add;
    ADD_MR MU Write Add;
    ADD_MI MI Write Add;
    SUB_RR TU Write Sub;
    SUB_RI TI Write Sub;
    SUB_RM TM Write Sub;
    SUB_MR MU Write Sub;
    SUB_MI MI Write Sub;
    AND_RR TU Write And;
    AND_RI TI Write And;
    AND_RM TM Write And;
    AND_MR MU Write And;
    AND_MI MI Write And;
    OR_RR TU Write Or;
    OR_RI TI Write Or;
    OR_RM TM Write Or;
    OR_MR MU Write Or;
    OR_MI MI Write Or;
    XOR_RR TU Write Xor;
    XOR_RI TI Write Xor;
    XOR_RM TM Write Xor;
    XOR_MR MU Write Xor;
    XOR_MI MI Write Xor;
    IMUL_RR TU Write Imul;
    IMUL_RM TM Write Imul;
    /// `imul $imm, use, def`: not tied; the use may be in a spill slot.
    IMUL_RRI DUI Write Imul;
    IMUL_RMI DMI Write Imul;
    NEG_R T Write Neg;
    NEG_M M Write Neg;
    NOT_R T Keep Not;
    NOT_M M Keep Not;
    BSWAP_R T Keep Bswap;
    /// `-m movbe`: load and store of `size` (2, 4, 8) bytes in reverse order.
    MOVBE_RM DM Keep Movbe;
    MOVBE_MR MU Keep Movbe;
    /// `-m popcnt`: the number of bits that are set; the use may be in a spill slot.
    POPCNT_RR DU Write Popcnt;
    POPCNT_RM DM Write Popcnt;
    /// `-m bmi2`: `[def, use, count]`, none of them tied.
    SHLX DUU Keep Shlx;
    SHRX DUU Keep Shrx;
    SARX DUU Keep Sarx;
    /// `-m bmi2`: rotates right by `imm`; the use may be in a spill slot.
    RORX DUI Keep Rorx;

    // Shifts by an immediate or by cl, size 4 or 8 (memory: 1 to 8).
    SHL_RI TI Write Shl;
    SHL_RC TC Write Shl;
    SHL_MI MI Write Shl;
    SHR_RI TI Write Shr;
    SHR_RC TC Write Shr;
    SHR_MI MI Write Shr;
    SAR_RI TI Write Sar;
    SAR_RC TC Write Sar;
    SAR_MI MI Write Sar;
    ROL_RI TI Write Rol;
    ROL_RC TC Write Rol;
    ROR_RI TI Write Ror;
    ROR_RC TC Write Ror;

    // Division and double-width products.
    /// `[def in rdx, use in rax]`: cltd, cqto.
    CDQ Special Keep Cltd;
    /// `[def quotient in rax, def remainder in rdx, use rax, use rdx, divisor]`; the divisor may
    /// be in a spill slot.
    DIV_R Special Write Div;
    /// The same, divisor in memory: `[.., address…]`.
    DIV_M Special Write Div;
    IDIV_R Special Write Idiv;
    IDIV_M Special Write Idiv;
    /// `[def low in rax, def high in rdx, use rax, factor]`; the factor may be in a spill slot.
    MUL_R Special Write Mul;
    IMUL1_R Special Write Imul1;

    // Comparisons: `CMP a, b` sets the flags of a - b. Size 1 to 8.
    CMP_RR UU Write Cmp;
    CMP_RI UI Write Cmp;
    /// Register with memory: reg - memory.
    CMP_RM UM Write Cmp;
    /// Memory with register: memory - reg.
    CMP_MR MU Write Cmp;
    CMP_MI MI Write Cmp;
    TEST_RR UU Write Test;
    TEST_RI UI Write Test;
    TEST_MR MU Write Test;
    TEST_MI MI Write Test;

    // Users of flags. `cond` is a number of `cond`.
    /// Sets the low byte of a register to 0 or 1, keeps the rest: `[def = use 1, use]`. The use
    /// is a zero made before the compare. No float pairs here.
    SETCC_R T Read Set;
    /// Sets a register to 0 or 1: setcc, then movzbl.
    SETCC_ZX D Read Set;
    /// Terminator: to the first successor on `cond`, else to the second. `FEQ`, `FNE`: two jumps.
    JCC None Read Jcc;
    /// `[def = use 1, use if not cond, use if cond]`; the last may be in a spill slot. Size 4, 8.
    CMOV_RR TU Read Cmov;
    /// `[def = use 1, use if not cond, address…]`
    CMOV_RM TM Read Cmov;

    // Floats, size 4 (ss) or 8 (sd).
    /// Zero (xorps).
    FZERO D Keep Xorps;
    FMOV_RM DM Keep Movs;
    FMOV_MR MU Keep Movs;
    /// Store of all 16 bytes of a vector register (movups): the save area of a variadic function.
    FMOV16_MR MU Keep Movups;
    FADD_RR TU Keep Adds;
    FADD_RM TM Keep Adds;
    FSUB_RR TU Keep Subs;
    FSUB_RM TM Keep Subs;
    FMUL_RR TU Keep Muls;
    FMUL_RM TM Keep Muls;
    FDIV_RR TU Keep Divs;
    FDIV_RM TM Keep Divs;
    /// Bitwise, on 16 bytes (andps, xorps). `_RR`: both in registers. `_RM`: memory is a `Pool` of
    /// 16 bytes (low half as given, upper half zero, aligned 16).
    FAND_RR TU Keep Andps;
    FAND_RM TM Keep Andps;
    FXOR_RR TU Keep Xorps;
    FXOR_RM TM Keep Xorps;
    /// ucomiss/ucomisd: flags of first against second operand; the second may be in a spill slot.
    UCOMI_RR UU Write Ucomis;
    UCOMI_RM UM Write Ucomis;
    /// Integer to float; `size` is the integer's. The use may be in a spill slot.
    CVTSI2SS_RR DU Keep Cvtsi2ss;
    CVTSI2SS_RM DM Keep Cvtsi2ss;
    CVTSI2SD_RR DU Keep Cvtsi2sd;
    CVTSI2SD_RM DM Keep Cvtsi2sd;
    /// Float to integer, truncating; `size` is the integer's. The use may be in a spill slot.
    CVTTSS2SI_RR DU Keep Cvttss2si;
    CVTTSS2SI_RM DM Keep Cvttss2si;
    CVTTSD2SI_RR DU Keep Cvttsd2si;
    CVTTSD2SI_RM DM Keep Cvttsd2si;
    CVTSS2SD_RR DU Keep Cvtss2sd;
    CVTSS2SD_RM DM Keep Cvtss2sd;
    CVTSD2SS_RR DU Keep Cvtsd2ss;
    CVTSD2SS_RM DM Keep Cvtsd2ss;
    /// Bits of a float register into an integer register, size 4 or 8 (movd, movq). The use may be
    /// in a spill slot.
    MOVD_RF DU Keep Movd;
    /// Bits of an integer register into a float register.
    MOVD_FR DU Keep Movd;

    // Copies of memory.
    /// `[scratch EarlyDef, registers of the source address…, of the destination address…]`: copies
    /// `imm` (1 to 256) bytes; `address` is the source, `address + 1` (the next row of the table)
    /// the destination; their operand numbers count from the start of the whole list. The scratch
    /// is a float register if `imm >= 4`, else an integer one. The areas are apart or the same, so
    /// chunks may overlap (13 bytes: 8 at 0, 8 at 5) and go in any order.
    BLIT Special Keep Mov;
    /// rep movsb (size 1), rep movsq (size 8): `[use rdi, use rsi, use rcx]`, all destroyed.
    REP_MOVS Special Keep RepMovsb;

    // Calls and the stack.
    /// `[defs of results…, uses of arguments…]`; the callee is `address`: base
    /// `Symbol(_, Direct)`: `call sym+disp`; `Symbol(_, Extern)`, disp 0: `call sym@PLT`.
    CALL Special Write Call;
    /// The callee's address is in the register operand of number `imm`.
    CALL_R Special Write CallInd;
    /// The callee's address is in memory at `address`, operands of the address come last.
    CALL_M Special Write CallInd;
    /// `[def, use]`: subtracts the use (a multiple of 16) from rsp, then `lea outgoing(%rsp), def`. On
    /// COFF the use is in rax, and the stack is touched first.
    ALLOC_R DU Write Sub;
    /// `[def]` and `imm`: the same with a constant; not on COFF.
    ALLOC_I DI Write Sub;
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
