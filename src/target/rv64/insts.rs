//! THE instruction table of RISC-V: one row an instruction, for selection and for final
//! instructions alike. Selection also writes *pseudo* rows, which emission turns into others; they
//! stand at the end and are never final.
//!
//! The operands of a final [`Instruction`](crate::target::Instruction) are as assembly text has them,
//! the destination first; of a memory operand come the displacement and then the base. The
//! operands of an `MInst` are the registers of those, in the same order; its `imm` is the immediate
//! and its `address` the memory operand, whose register comes last.
//!
//! The assembler takes the compressed form of an instruction by itself.

use crate::target::machine::{MOp, op};

/// The operands of a row, and so how it prints.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Nothing.
    None,
    /// `d, a, b`
    R,
    /// `d, a, tp, %tprel_add(symbol)`
    Tprel,
    /// `d, a, imm`
    I,
    /// `d, imm`: the upper 20 bits.
    U,
    /// `d, a`
    Unary,
    /// `d, a, rtz`: rounds towards zero.
    Truncate,
    /// `d, disp(base)`
    Load,
    /// `a, disp(base)`
    Store,
    /// `a, b, block`; without the block, to a mark.
    Branch,
    /// `a, block`; without the block, to a mark.
    BranchZero,
    /// `block`
    Jump,
    /// `block, scratch`
    JumpFar,
    /// `symbol`
    Call,
    /// `a`: the callee's address.
    CallReg,
    /// Emission makes something else of it.
    Pseudo,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub mnemonic: &'static str,
    pub shape: Shape,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident $mnemonic:literal $shape:ident;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Number { $($name,)* }
        $($(#[$doc])* pub const $name: MOp = op::FIRST_TARGET + Number::$name as MOp;)*
        /// All rows, the first of number `op::FIRST_TARGET`.
        pub static ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            mnemonic: $mnemonic,
            shape: Shape::$shape,
        },)*];
    };
}

/// The row of a target instruction (`op >= FIRST_TARGET`).
#[inline]
pub fn row(number: MOp) -> &'static Row {
    &ROWS[usize::from(number - op::FIRST_TARGET)]
}

// Columns: name, mnemonic, shape.
rows! {
    // Arithmetic. A W takes the low halves of its operands and repeats the sign of its result.
    ADD "add" R;
    ADDW "addw" R;
    SUB "sub" R;
    SUBW "subw" R;
    AND "and" R;
    OR "or" R;
    XOR "xor" R;
    SLL "sll" R;
    SLLW "sllw" R;
    SRL "srl" R;
    SRLW "srlw" R;
    SRA "sra" R;
    SRAW "sraw" R;
    SLT "slt" R;
    SLTU "sltu" R;
    MUL "mul" R;
    MULW "mulw" R;
    MULH "mulh" R;
    MULHU "mulhu" R;
    MULHSU "mulhsu" R;
    DIV "div" R;
    DIVW "divw" R;
    DIVU "divu" R;
    DIVUW "divuw" R;
    REM "rem" R;
    REMW "remw" R;
    REMU "remu" R;
    REMUW "remuw" R;
    ADDI "addi" I;
    ADDIW "addiw" I;
    ANDI "andi" I;
    ORI "ori" I;
    XORI "xori" I;
    SLLI "slli" I;
    SLLIW "slliw" I;
    SRLI "srli" I;
    SRLIW "srliw" I;
    SRAI "srai" I;
    SRAIW "sraiw" I;
    SLTI "slti" I;
    SLTIU "sltiu" I;
    /// `addi d, zero, imm`
    LI12 "li" U;
    LUI "lui" U;
    AUIPC "auipc" U;
    /// Marks the use of the thread pointer for the linker.
    ADD_TPREL "add" Tprel;
    // With x0, 0, 1 or -1 as the other operand.
    MV "mv" Unary;
    NEG "neg" Unary;
    NEGW "negw" Unary;
    NOT "not" Unary;
    SEQZ "seqz" Unary;
    SNEZ "snez" Unary;
    SLTZ "sltz" Unary;
    SGTZ "sgtz" Unary;
    /// `addiw d, a, 0`
    SEXT_W "sext.w" Unary;

    // Zba.
    ADD_UW "add.uw" R;
    SH1ADD "sh1add" R;
    SH2ADD "sh2add" R;
    SH3ADD "sh3add" R;
    SH1ADD_UW "sh1add.uw" R;
    SH2ADD_UW "sh2add.uw" R;
    SH3ADD_UW "sh3add.uw" R;
    SLLI_UW "slli.uw" I;
    /// `add.uw d, a, zero`
    ZEXT_W "zext.w" Unary;

    // Zbb.
    ANDN "andn" R;
    ORN "orn" R;
    XNOR "xnor" R;
    ROL "rol" R;
    ROLW "rolw" R;
    ROR "ror" R;
    RORW "rorw" R;
    RORI "rori" I;
    RORIW "roriw" I;
    MIN "min" R;
    MINU "minu" R;
    MAX "max" R;
    MAXU "maxu" R;
    SEXT_B "sext.b" Unary;
    SEXT_H "sext.h" Unary;
    ZEXT_H "zext.h" Unary;
    REV8 "rev8" Unary;

    // Zbs.
    BCLR "bclr" R;
    BEXT "bext" R;
    BINV "binv" R;
    BSET "bset" R;
    BCLRI "bclri" I;
    BEXTI "bexti" I;
    BINVI "binvi" I;
    BSETI "bseti" I;

    // Memory.
    LB "lb" Load;
    LBU "lbu" Load;
    LH "lh" Load;
    LHU "lhu" Load;
    LW "lw" Load;
    LWU "lwu" Load;
    LD "ld" Load;
    FLW "flw" Load;
    FLD "fld" Load;
    SB "sb" Store;
    SH "sh" Store;
    SW "sw" Store;
    SD "sd" Store;
    FSW "fsw" Store;
    FSD "fsd" Store;

    // Floats. The row of doubles follows the one of singles.
    FADD_S "fadd.s" R;
    FADD_D "fadd.d" R;
    FSUB_S "fsub.s" R;
    FSUB_D "fsub.d" R;
    FMUL_S "fmul.s" R;
    FMUL_D "fmul.d" R;
    FDIV_S "fdiv.s" R;
    FDIV_D "fdiv.d" R;
    FEQ_S "feq.s" R;
    FEQ_D "feq.d" R;
    FLT_S "flt.s" R;
    FLT_D "flt.d" R;
    FLE_S "fle.s" R;
    FLE_D "fle.d" R;
    FMV_S "fmv.s" Unary;
    FMV_D "fmv.d" Unary;
    FNEG_S "fneg.s" Unary;
    FNEG_D "fneg.d" Unary;
    FCVT_D_S "fcvt.d.s" Unary;
    FCVT_S_D "fcvt.s.d" Unary;
    FCVT_W_S "fcvt.w.s" Truncate;
    FCVT_W_D "fcvt.w.d" Truncate;
    FCVT_WU_S "fcvt.wu.s" Truncate;
    FCVT_WU_D "fcvt.wu.d" Truncate;
    FCVT_L_S "fcvt.l.s" Truncate;
    FCVT_L_D "fcvt.l.d" Truncate;
    FCVT_LU_S "fcvt.lu.s" Truncate;
    FCVT_LU_D "fcvt.lu.d" Truncate;
    FCVT_S_W "fcvt.s.w" Unary;
    FCVT_D_W "fcvt.d.w" Unary;
    FCVT_S_WU "fcvt.s.wu" Unary;
    FCVT_D_WU "fcvt.d.wu" Unary;
    FCVT_S_L "fcvt.s.l" Unary;
    FCVT_D_L "fcvt.d.l" Unary;
    FCVT_S_LU "fcvt.s.lu" Unary;
    FCVT_D_LU "fcvt.d.lu" Unary;
    /// Bits of a float register in an integer register; those of a single have their sign repeated.
    FMV_X_W "fmv.x.w" Unary;
    FMV_X_D "fmv.x.d" Unary;
    FMV_W_X "fmv.w.x" Unary;
    FMV_D_X "fmv.d.x" Unary;

    // Control.
    BEQ "beq" Branch;
    BNE "bne" Branch;
    BLT "blt" Branch;
    BGE "bge" Branch;
    BLTU "bltu" Branch;
    BGEU "bgeu" Branch;
    BEQZ "beqz" BranchZero;
    BNEZ "bnez" BranchZero;
    BLTZ "bltz" BranchZero;
    BGEZ "bgez" BranchZero;
    BLEZ "blez" BranchZero;
    BGTZ "bgtz" BranchZero;
    J "j" Jump;
    /// Places that branches inside one expansion go to (`mark`); no code.
    MARK_BACK "2:" None;
    MARK_AHEAD "3:" None;
    /// `auipc` and `jr`: as far as there is code.
    JUMP_FAR "jump" JumpFar;
    RET "ret" None;
    EBREAK "ebreak" None;
    /// `[defs of results…, uses of arguments…]`; the callee is `address`: base `Symbol(_, Direct)`
    /// plus a displacement or `Symbol(_, Extern)`. `auipc` and `jalr`, which the linker shortens.
    CALL "call" Call;
    /// The callee's address is in the register operand of number `imm`.
    CALL_REG "jalr" CallReg;

    // Pseudo rows.
    /// `[def]` and `imm`: an integer into a register.
    LI "" Pseudo;
    /// `[def]` and `imm`: the bits of a float of `size` bytes into a register.
    FLI "" Pseudo;
    /// `[def, address…]`: the address into a register. Base `Symbol(_, Extern)`: what the GOT
    /// cell holds; `Symbol(_, ExternThread)`: what the cell holds, plus the thread pointer.
    LEA "" Pseudo;
    /// `[address…]`: stores `size` zero bytes.
    STORE_ZERO "" Pseudo;
    /// Terminator: `[use, use]` or `[use]` compared with 0, by `cond`.
    BRANCH "" Pseudo;
    /// `[scratch EarlyDef, def = use 3, def = use 4, use, use, use]`: copies from the first use, until
    /// that is the last, to the second; `imm` times `size` bytes a round. The definitions are the
    /// addresses after that.
    BLIT_LOOP "" Pseudo;
    /// `[def, use]`: subtracts the use (a multiple of 16) from sp; what lies above the outgoing
    /// arguments is the result.
    ALLOC "" Pseudo;
    /// `[def]` and `imm`: the same with a constant.
    ALLOC_IMM "" Pseudo;
}

/// Numbers of conditions (`MInst::cond`): the encoding's, and two that compare with 0 only.
pub mod cond {
    pub const EQ: u8 = 0;
    pub const NE: u8 = 1;
    pub const LT: u8 = 4;
    pub const GE: u8 = 5;
    pub const LTU: u8 = 6;
    pub const GEU: u8 = 7;
    pub const LE: u8 = 8;
    pub const GT: u8 = 9;

    /// The opposite condition.
    pub const fn negated(cond: u8) -> u8 {
        cond ^ 1
    }
}

/// Marks that a branch without a block goes to (`Instruction::cond`).
pub mod mark {
    /// The last `MARK_BACK` before.
    pub const BACK: u8 = 1;
    /// The next `MARK_AHEAD`.
    pub const AHEAD: u8 = 2;
}

/// Numbers of relocations (`Arg::Part`).
pub mod part {
    /// The upper 20 bits of the distance from the `auipc` to the address.
    pub const PCREL_HI: u8 = 0;
    /// The lower 12 bits that belong to the last `auipc` before.
    pub const PCREL_LO: u8 = 1;
    /// The same to the cell of the global offset table.
    pub const GOT_HI: u8 = 2;
    /// The same to the cell with the offset from the thread pointer.
    pub const TLS_IE_HI: u8 = 3;
    /// Parts of the offset from the thread pointer.
    pub const TPREL_HI: u8 = 4;
    pub const TPREL_ADD: u8 = 5;
    pub const TPREL_LO: u8 = 6;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_names() {
        assert_eq!(row(ADD).name, "ADD");
        assert_eq!(row(ALLOC_IMM).name, "ALLOC_IMM");
    }

    #[test]
    fn only_pseudo_rows_have_no_mnemonic() {
        for row in ROWS {
            assert_eq!(row.mnemonic.is_empty(), row.shape == Shape::Pseudo, "{}", row.name);
        }
    }
}
