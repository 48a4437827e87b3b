//! THE instruction table of AArch64: one row an instruction. Selection writes rows, emission sends
//! the same rows on with concrete operands, and the sinks print or encode those. Rows without a
//! mnemonic are of selection only; emission turns them into others.
//!
//! The order of `MInst` operands is that of the letters of the column `operands`: the definition
//! first, then the uses. `size` is the size of the operation: 4 or 8 unless a row says otherwise; a
//! 4-byte operation leaves zeros in the upper half of its destination.

use crate::target::machine::{MOp, op};

/// What a row does to the flags.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Flags {
    Keep,
    /// Leaves something in them.
    Write,
    /// Reads them.
    Read,
    /// Reads them, then leaves something in them.
    ReadWrite,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    /// Empty: selection only.
    pub mnemonic: &'static str,
    /// A letter an operand:
    /// - `r` integer register of the operation's size, `w` of 4 bytes, `x` of 8; number 31 is zero
    /// - `p` as `r`, number 31 is the stack pointer; `P` as `x`, the same
    /// - `f` float register of the operation's size, `s` of 4 bytes, `d` of 8
    /// - `t` what is loaded or stored: of the size, in the file of the register
    /// - `o` register that may be shifted or extended on the way in (`MInst::imm`: [`modifier`])
    /// - `i` immediate (`MInst::imm`); `l` logical one; `u` arithmetic one, or the low bits of an
    ///   address; `k` 16 bits and their shift; `n` float by its bits
    /// - `j` two immediates: first bit and number of bits (`MInst::imm`: [`field`])
    /// - `m` address: base and offset (`MInst::address`)
    /// - `a` page of an address (`MInst::address`)
    /// - `c` condition; `?` condition as the end of the mnemonic (`MInst::cond`)
    /// - `b` block or symbol
    /// - no operands: `y` the thread pointer's register, `z` the float 0
    /// - `=` use in the same register as the definition, not written
    pub operands: &'static str,
    pub flags: Flags,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident $mnemonic:literal $operands:literal $flags:ident;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Number { $($name,)* }
        $($(#[$doc])* pub const $name: MOp = op::FIRST_TARGET + Number::$name as MOp;)*
        pub static ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            mnemonic: $mnemonic,
            operands: $operands,
            flags: Flags::$flags,
        },)*];
    };
}

/// The row of a target instruction (`op >= FIRST_TARGET`).
#[inline]
pub fn row(number: MOp) -> &'static Row {
    &ROWS[usize::from(number - op::FIRST_TARGET)]
}

// Columns: name, mnemonic, operands, flags. Suffixes: R registers, I immediate.
rows! {
    // Constants and addresses.
    /// `imm` into a register: one to four instructions.
    MOV_C       ""       "ri"    Keep;
    /// The float whose bits are `imm`, size 4 or 8.
    FMOV_C      ""       "fi"    Keep;
    /// The address `MInst::address`, of the frame or of registers.
    LEA         ""       "xm"    Keep;
    /// The address of a symbol and an offset: of any access but `Thread` on Apple.
    SYMBOL      ""       "xm"    Keep;
    /// `[def in x0]`: the address of a thread-local variable on Apple, by a call that destroys only
    /// `MInst::clobbers`.
    TLV         ""       "xm"    Write;
    ADRP        "adrp"   "xa"    Keep;
    MOVZ        "movz"   "rk"    Keep;
    MOVN        "movn"   "rk"    Keep;
    MOVK        "movk"   "r=k"   Keep;
    /// The thread pointer.
    MRS         "mrs"    "xy"    Keep;

    // Moves.
    MOV         "mov"    "rr"    Keep;
    /// From or to the stack pointer.
    MOV_SP      "mov"    "PP"    Keep;
    FMOV        "fmov"   "ff"    Keep;
    /// The 8-bit immediates of [`float8`](super::immediates::float8).
    FMOV_I      "fmov"   "fn"    Keep;
    /// Zero of either size.
    MOVI        "movi"   "di"    Keep;
    /// Bits of one register file in the other.
    FMOV_FI     "fmov"   "fr"    Keep;
    FMOV_IF     "fmov"   "rf"    Keep;

    // Arithmetic.
    /// Any constant below 2^24 in size: one or two instructions.
    ADD_C       ""       "rri"   Keep;
    ADD_I       "add"    "ppu"   Keep;
    SUB_I       "sub"    "ppu"   Keep;
    ADDS_I      "adds"   "rpu"   Write;
    SUBS_I      "subs"   "rpu"   Write;
    CMP_I       "cmp"    "pu"    Write;
    CMN_I       "cmn"    "pu"    Write;
    ADD         "add"    "rro"   Keep;
    SUB         "sub"    "rro"   Keep;
    ADDS        "adds"   "rro"   Write;
    SUBS        "subs"   "rro"   Write;
    CMP         "cmp"    "ro"    Write;
    CMN         "cmn"    "ro"    Write;
    NEG         "neg"    "ro"    Keep;
    /// With the stack pointer; extended.
    ADD_SP      "add"    "PPo"   Keep;
    SUB_SP      "sub"    "PPo"   Keep;
    /// `ccmp a, #imm low 5 bits, #imm bits 8 and up, cond`: compares if the condition holds, else
    /// the flags are the second immediate.
    CCMP_I      "ccmp"   "rjc"   ReadWrite;
    /// `ccmp a, b, #imm, cond`
    CCMP        "ccmp"   "rric"  ReadWrite;
    MUL         "mul"    "rrr"   Keep;
    MNEG        "mneg"   "rrr"   Keep;
    /// def = use 3 + use 1 * use 2
    MADD        "madd"   "rrrr"  Keep;
    MSUB        "msub"   "rrrr"  Keep;
    SMULL       "smull"  "xww"   Keep;
    UMULL       "umull"  "xww"   Keep;
    SMADDL      "smaddl" "xwwx"  Keep;
    UMADDL      "umaddl" "xwwx"  Keep;
    SMSUBL      "smsubl" "xwwx"  Keep;
    UMSUBL      "umsubl" "xwwx"  Keep;
    SMULH       "smulh"  "xxx"   Keep;
    UMULH       "umulh"  "xxx"   Keep;
    SDIV        "sdiv"   "rrr"   Keep;
    UDIV        "udiv"   "rrr"   Keep;

    // Bits.
    AND_I       "and"    "prl"   Keep;
    ORR_I       "orr"    "prl"   Keep;
    EOR_I       "eor"    "prl"   Keep;
    ANDS_I      "ands"   "rrl"   Write;
    TST_I       "tst"    "rl"    Write;
    AND         "and"    "rro"   Keep;
    ORR         "orr"    "rro"   Keep;
    EOR         "eor"    "rro"   Keep;
    BIC         "bic"    "rro"   Keep;
    ORN         "orn"    "rro"   Keep;
    EON         "eon"    "rro"   Keep;
    ANDS        "ands"   "rro"   Write;
    BICS        "bics"   "rro"   Write;
    TST         "tst"    "ro"    Write;
    MVN         "mvn"    "ro"    Keep;
    LSL_I       "lsl"    "rri"   Keep;
    LSR_I       "lsr"    "rri"   Keep;
    ASR_I       "asr"    "rri"   Keep;
    ROR_I       "ror"    "rri"   Keep;
    LSL         "lsl"    "rrr"   Keep;
    LSR         "lsr"    "rrr"   Keep;
    ASR         "asr"    "rrr"   Keep;
    ROR         "ror"    "rrr"   Keep;
    EXTR        "extr"   "rrri"  Keep;
    UBFX        "ubfx"   "rrj"   Keep;
    SBFX        "sbfx"   "rrj"   Keep;
    UBFIZ       "ubfiz"  "rrj"   Keep;
    SBFIZ       "sbfiz"  "rrj"   Keep;
    BFI         "bfi"    "r=rj"  Keep;
    BFXIL       "bfxil"  "r=rj"  Keep;
    UXTB        "uxtb"   "ww"    Keep;
    UXTH        "uxth"   "ww"    Keep;
    SXTB        "sxtb"   "rw"    Keep;
    SXTH        "sxth"   "rw"    Keep;
    SXTW        "sxtw"   "xw"    Keep;
    REV         "rev"    "rr"    Keep;
    REV16       "rev16"  "rr"    Keep;

    // Users of flags.
    CSEL        "csel"   "rrrc"  Read;
    CSINC       "csinc"  "rrrc"  Read;
    CSINV       "csinv"  "rrrc"  Read;
    CSNEG       "csneg"  "rrrc"  Read;
    CSET        "cset"   "rc"    Read;
    CSETM       "csetm"  "rc"    Read;
    FCSEL       "fcsel"  "fffc"  Read;

    // Loads and stores. Sizes 4, 8, and 16 of float registers. `MInst::imm`: how the index is
    // extended ([`kind`]), plus [`VOLATILE`].
    LDR         "ldr"    "tm"    Keep;
    LDRB        "ldrb"   "wm"    Keep;
    LDRH        "ldrh"   "wm"    Keep;
    LDRSB       "ldrsb"  "rm"    Keep;
    LDRSH       "ldrsh"  "rm"    Keep;
    LDRSW       "ldrsw"  "xm"    Keep;
    STR         "str"    "tm"    Keep;
    STRB        "strb"   "wm"    Keep;
    STRH        "strh"   "wm"    Keep;
    /// Stores zeros, size 1 to 8.
    STR_ZERO    ""       "m"     Keep;
    LDP         "ldp"    "ttm"   Keep;
    STP         "stp"    "ttm"   Keep;
    /// The base becomes the address, before or after the access.
    LDR_POST    "ldr"    "tm"    Keep;
    STR_PRE     "str"    "tm"    Keep;
    LDP_POST    "ldp"    "ttm"   Keep;
    STP_PRE     "stp"    "ttm"   Keep;
    /// `[scratch EarlyDef, scratch EarlyDef, registers of the source address, of the
    /// destination's]`: copies `imm` bytes; `address` is the source, the next row the destination.
    BLIT        ""       "ttmm"  Keep;

    // Floats.
    FADD        "fadd"   "fff"   Keep;
    FSUB        "fsub"   "fff"   Keep;
    FMUL        "fmul"   "fff"   Keep;
    FDIV        "fdiv"   "fff"   Keep;
    FNMUL       "fnmul"  "fff"   Keep;
    FNEG        "fneg"   "ff"    Keep;
    FCMP        "fcmp"   "ff"    Write;
    /// With 0.0.
    FCMP_Z      "fcmp"   "fz"    Write;
    /// `size` is the integer's.
    SCVTF_S     "scvtf"  "sr"    Keep;
    SCVTF_D     "scvtf"  "dr"    Keep;
    UCVTF_S     "ucvtf"  "sr"    Keep;
    UCVTF_D     "ucvtf"  "dr"    Keep;
    FCVTZS_S    "fcvtzs" "rs"    Keep;
    FCVTZS_D    "fcvtzs" "rd"    Keep;
    FCVTZU_S    "fcvtzu" "rs"    Keep;
    FCVTZU_D    "fcvtzu" "rd"    Keep;
    FCVT_D      "fcvt"   "ds"    Keep;
    FCVT_S      "fcvt"   "sd"    Keep;

    // Control. A branch goes to the first successor if it is taken, else to the second.
    B           "b"      "b"     Keep;
    B_IF        "b."     "?b"    Read;
    CBZ         "cbz"    "rb"    Keep;
    CBNZ        "cbnz"   "rb"    Keep;
    /// Bit number `imm`.
    TBZ         "tbz"    "rib"   Keep;
    TBNZ        "tbnz"   "rib"   Keep;
    BL          "bl"     "b"     Write;
    BLR         "blr"    "x"     Write;
    RET         "ret"    ""      Keep;
    /// Where indirect calls may go to (BTI c).
    HINT        "hint"   "i"     Keep;
    BRK         "brk"    "i"     Keep;
    /// `[results…, arguments…]`; the callee is the symbol of `address`.
    CALL        ""       ""      Write;
    /// The callee's address is in the operand of number `imm`.
    CALL_R      ""       ""      Write;
    /// `[def, use]`: the use (a multiple of 16) off the stack pointer; the address above the
    /// outgoing arguments.
    ALLOC_R     ""       "xx"    Keep;
    /// `imm` bytes.
    ALLOC_I     ""       "xi"    Keep;
}

/// In `MInst::imm` of a load or store: not to be joined with another.
pub const VOLATILE: i64 = 1 << 8;

/// Kinds of `Arg::Modified`: shifts and extensions by their numbers in encodings, extensions plus 4.
pub mod kind {
    pub const LSL: u8 = 0;
    pub const LSR: u8 = 1;
    pub const ASR: u8 = 2;
    pub const ROR: u8 = 3;
    pub const UXTB: u8 = 4;
    pub const UXTH: u8 = 5;
    pub const UXTW: u8 = 6;
    pub const UXTX: u8 = 7;
    pub const SXTB: u8 = 8;
    pub const SXTH: u8 = 9;
    pub const SXTW: u8 = 10;
    pub const SXTX: u8 = 11;
}

/// Kinds of `Arg::Part`: which bits of which address.
pub mod part {
    pub const PAGE: u8 = 0;
    pub const LOW: u8 = 1;
    pub const GOT_PAGE: u8 = 2;
    pub const GOT_LOW: u8 = 3;
    /// Thread-local, relative to the thread pointer.
    pub const TPREL_HIGH: u8 = 4;
    pub const TPREL_LOW: u8 = 5;
    /// The cell that holds such an offset.
    pub const GOTTPREL_PAGE: u8 = 6;
    pub const GOTTPREL_LOW: u8 = 7;
    /// Apple's descriptor of a thread-local variable.
    pub const TLVP_PAGE: u8 = 8;
    pub const TLVP_LOW: u8 = 9;
}

/// How `MInst::imm` holds what is done to a register on the way in; 0 is nothing.
pub const fn modifier(kind: u8, amount: u8) -> i64 {
    (kind as i64) << 8 | amount as i64
}

/// How `MInst::imm` holds the first bit and the number of bits of a field.
pub const fn field(first: u8, bits: u8) -> i64 {
    (bits as i64) << 8 | first as i64
}

/// Numbers of conditions: the encoding's.
pub mod cond {
    pub const EQ: u8 = 0;
    pub const NE: u8 = 1;
    pub const HS: u8 = 2;
    pub const LO: u8 = 3;
    pub const MI: u8 = 4;
    pub const PL: u8 = 5;
    pub const VS: u8 = 6;
    pub const VC: u8 = 7;
    pub const HI: u8 = 8;
    pub const LS: u8 = 9;
    pub const GE: u8 = 10;
    pub const LT: u8 = 11;
    pub const GT: u8 = 12;
    pub const LE: u8 = 13;

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
        assert_eq!(row(MOV_C).name, "MOV_C");
        assert_eq!(row(ALLOC_I).name, "ALLOC_I");
        assert_eq!(usize::from(ALLOC_I - op::FIRST_TARGET) + 1, ROWS.len());
    }
}
