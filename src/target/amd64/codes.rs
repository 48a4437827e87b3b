//! THE table of machine instructions of amd64: one row a mnemonic, whose forms differ only in the
//! kinds of their operands. Emission writes rows, and both sinks read them.
//!
//! Operands of an [`Instruction`](crate::target::Instruction) come destination first, as Intel
//! writes them.

use crate::target::machine::MOp;

/// How a row's operands are sized and how that shows in its mnemonic.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Style {
    /// Nothing is sized: integer registers are 8 bytes, no suffix.
    Plain,
    /// The target of a jump or call comes out of a register or memory.
    Indirect,
    /// `b w l q`; integer registers have the instruction's size.
    Sized,
    /// As `Sized`, but a source register is cl.
    Shift,
    /// Extends the source of the instruction's size to 4 bytes (`bl wl`).
    Extend4,
    /// Extends the source of the instruction's size to 8 bytes (`bq wq lq`).
    Extend8,
    /// `s d`.
    Float,
    /// `l q` for the integer source, which has the instruction's size.
    FromInt,
    /// No suffix; an integer destination has the instruction's size.
    ToInt,
    /// `d q`: the bits of one register file in the other.
    Bits,
    /// The condition, then operands of the instruction's size.
    Condition,
    /// The condition, then a byte.
    ConditionByte,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    pub code: Code,
    pub mnemonic: &'static [u8],
    pub style: Style,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $mnemonic:literal $style:ident;)*) => {
        /// A machine instruction.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub enum Code { $($(#[$doc])* $name,)* }

        /// All rows, in the order of their numbers.
        pub static CODES: &[Row] = &[$(Row {
            code: Code::$name,
            mnemonic: $mnemonic.as_bytes(),
            style: Style::$style,
        },)*];
    };
}

impl Code {
    /// Its number, as `Instruction::op` has it.
    pub const fn number(self) -> MOp {
        self as MOp
    }
}

/// The row of that number.
#[inline]
pub fn row(number: MOp) -> &'static Row {
    &CODES[usize::from(number)]
}

// Columns: code, mnemonic, style.
codes! {
    // Moves.
    Mov      "mov"       Sized;
    /// An immediate of 8 bytes.
    Movabs   "movabs"    Sized;
    Movzx    "movz"      Extend4;
    Movsx4   "movs"      Extend4;
    Movsx8   "movs"      Extend8;
    Lea      "lea"       Sized;
    Xchg     "xchg"      Sized;
    Push     "pushq"     Plain;
    Pop      "popq"      Plain;
    /// The thread pointer into a register.
    MovFs    "movq %fs:0, " Plain;

    // Arithmetic.
    Add      "add"       Sized;
    Or       "or"        Sized;
    And      "and"       Sized;
    Sub      "sub"       Sized;
    Xor      "xor"       Sized;
    Cmp      "cmp"       Sized;
    Test     "test"      Sized;
    Inc      "inc"       Sized;
    Dec      "dec"       Sized;
    Neg      "neg"       Sized;
    Not      "not"       Sized;
    /// Of two operands, or three with an immediate last.
    Imul     "imul"      Sized;
    /// rdx:rax = rax * operand.
    Mul      "mul"       Sized;
    Imul1    "imul"      Sized;
    Div      "div"       Sized;
    Idiv     "idiv"      Sized;
    Shl      "shl"       Shift;
    Shr      "shr"       Shift;
    Sar      "sar"       Shift;
    Rol      "rol"       Shift;
    Ror      "ror"       Shift;
    Bswap    "bswap"     Sized;
    /// Between memory and a register, bytes reversed (`-m movbe`).
    Movbe    "movbe"     Sized;
    Popcnt   "popcnt"    Sized;
    /// Destination, source, count; no flags (`-m bmi2`).
    Shlx     "shlx"      Sized;
    Shrx     "shrx"      Sized;
    Sarx     "sarx"      Sized;
    /// Destination, source, immediate.
    Rorx     "rorx"      Sized;
    /// ax, eax, rax sign-extended in place: `cwtl`, `cltq`.
    Cwtl     "cwtl"      Plain;
    Cltq     "cltq"      Plain;
    /// rdx = sign of rax.
    Cltd     "cltd"      Plain;
    Cqto     "cqto"      Plain;

    // Users of flags.
    Jcc      "j"         Condition;
    Set      "set"       ConditionByte;
    Cmov     "cmov"      Condition;

    // Control.
    Jmp      "jmp"       Plain;
    Call     "call"      Plain;
    CallInd  "call"      Indirect;
    Ret      "ret"       Plain;
    Leave    "leave"     Plain;
    Ud2      "ud2"       Plain;
    Endbr64  "endbr64"   Plain;
    RepMovsb "rep movsb" Plain;
    RepMovsq "rep movsq" Plain;

    // Floats.
    /// Between two registers.
    Movaps   "movaps"    Plain;
    Movups   "movups"    Plain;
    Movs     "movs"      Float;
    Adds     "adds"      Float;
    Subs     "subs"      Float;
    Muls     "muls"      Float;
    Divs     "divs"      Float;
    Ucomis   "ucomis"    Float;
    Andps    "andps"     Plain;
    Xorps    "xorps"     Plain;
    Cvtsi2ss "cvtsi2ss"  FromInt;
    Cvtsi2sd "cvtsi2sd"  FromInt;
    Cvttss2si "cvttss2si" ToInt;
    Cvttsd2si "cvttsd2si" ToInt;
    Cvtss2sd "cvtss2sd"  Plain;
    Cvtsd2ss "cvtsd2ss"  Plain;
    Movd     "mov"       Bits;
}
