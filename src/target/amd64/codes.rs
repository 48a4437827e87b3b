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
    /// The same with integer registers of 4 bytes.
    Plain4,
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

/// How a row is encoded. "r/m" is the operand that may be in memory and "reg" the other; an opcode
/// of integers is that of bytes, and has bit 0 set for other sizes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// These bytes.
    Fixed(&'static [u8]),
    /// mov between registers, memory and immediates.
    Mov,
    Movabs,
    MovFs,
    MovTlsIndex,
    MovTlsTable,
    Chkstk,
    /// The number among add, or, adc, sbb, and, sub, xor, cmp.
    Arithmetic(u8),
    Test,
    Xchg,
    Imul,
    Bswap,
    Movbe,
    Popcnt,
    /// reg, r/m, then a third register or an immediate; the number of the opcode's map.
    Vex(Prefix, u8, u8),
    /// The register is part of the opcode; always 8 bytes.
    InOpcode(u8),
    /// r/m; opcode and digit.
    Unary(u8, u8),
    /// r/m by an immediate or cl; the digit.
    Shift(u8),
    /// reg, r/m; opcode.
    Lea(u8),
    /// reg, r/m of another size; the size of reg and the opcode after 0f.
    Extend(u8, u8),
    /// reg, r/m; what goes first, and the opcode after 0f. REX.W as the integer operand wants.
    Vector(Prefix, u8),
    /// reg, r/m or the reverse to memory; two opcodes after 0f.
    VectorMove(Prefix, u8, u8),
    /// Bits between the register files, and memory.
    Bits,
    Jcc,
    Set,
    Cmov,
    Jmp,
    Call,
    CallInd,
}

/// The prefix that is part of a vector instruction's opcode.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Prefix {
    None,
    P66,
    F3,
    F2,
    /// f3 for size 4, f2 for size 8.
    Scalar,
    /// Nothing for size 4, 66 for size 8.
    Packed,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    pub code: Code,
    pub mnemonic: &'static [u8],
    pub style: Style,
    pub encoding: Encoding,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $mnemonic:literal $style:ident $encoding:expr;)*) => {
        /// A machine instruction.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub enum Code { $($(#[$doc])* $name,)* }

        /// All rows, in the order of their numbers.
        pub static CODES: &[Row] = &[$(Row {
            code: Code::$name,
            mnemonic: $mnemonic.as_bytes(),
            style: Style::$style,
            encoding: {
                #[allow(unused_imports)]
                use Encoding::*;
                $encoding
            },
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

// Columns: code, mnemonic, style, encoding.
codes! {
    // Moves.
    Mov       "mov"        Sized         Mov;
    /// An immediate of 8 bytes.
    Movabs    "movabs"     Sized         Movabs;
    Movzx     "movz"       Extend4       Extend(4, 0xb6);
    Movsx4    "movs"       Extend4       Extend(4, 0xbe);
    Movsx8    "movs"       Extend8       Extend(8, 0xbe);
    Lea       "lea"        Sized         Lea(0x8d);
    Xchg      "xchg"       Sized         Xchg;
    Push      "pushq"      Plain         InOpcode(0x50);
    Pop       "popq"       Plain         InOpcode(0x58);
    /// The thread pointer into a register.
    MovFs     "movq %fs:0, "  Plain         MovFs;
    /// Where Windows says which of a thread's blocks is the module's, and the table of the blocks.
    MovTlsIndex "movl _tls_index(%rip), " Plain4 MovTlsIndex;
    MovTlsTable "movq %gs:0x58, " Plain      MovTlsTable;
    /// Touches the stack that rax bytes more will take, page by page. Changes no register.
    Chkstk    "callq ___chkstk_ms" Plain     Chkstk;

    // Arithmetic.
    Add       "add"        Sized         Arithmetic(0);
    Or        "or"         Sized         Arithmetic(1);
    And       "and"        Sized         Arithmetic(4);
    Sub       "sub"        Sized         Arithmetic(5);
    Xor       "xor"        Sized         Arithmetic(6);
    Cmp       "cmp"        Sized         Arithmetic(7);
    Test      "test"       Sized         Test;
    Inc       "inc"        Sized         Unary(0xfe, 0);
    Dec       "dec"        Sized         Unary(0xfe, 1);
    Neg       "neg"        Sized         Unary(0xf6, 3);
    Not       "not"        Sized         Unary(0xf6, 2);
    /// Of two operands, or three with an immediate last.
    Imul      "imul"       Sized         Imul;
    /// rdx:rax = rax * operand.
    Mul       "mul"        Sized         Unary(0xf6, 4);
    Imul1     "imul"       Sized         Unary(0xf6, 5);
    Div       "div"        Sized         Unary(0xf6, 6);
    Idiv      "idiv"       Sized         Unary(0xf6, 7);
    Shl       "shl"        Shift         Shift(4);
    Shr       "shr"        Shift         Shift(5);
    Sar       "sar"        Shift         Shift(7);
    Rol       "rol"        Shift         Shift(0);
    Ror       "ror"        Shift         Shift(1);
    Bswap     "bswap"      Sized         Bswap;
    /// Between memory and a register, bytes reversed (`-m movbe`).
    Movbe     "movbe"      Sized         Movbe;
    Popcnt    "popcnt"     Sized         Popcnt;
    /// Destination, source, count; no flags (`-m bmi2`).
    Shlx      "shlx"       Sized         Vex(Prefix::P66, 2, 0xf7);
    Shrx      "shrx"       Sized         Vex(Prefix::F2, 2, 0xf7);
    Sarx      "sarx"       Sized         Vex(Prefix::F3, 2, 0xf7);
    /// Destination, source, immediate.
    Rorx      "rorx"       Sized         Vex(Prefix::F2, 3, 0xf0);
    /// ax, eax, rax sign-extended in place: `cwtl`, `cltq`.
    Cwtl      "cwtl"       Plain         Fixed(&[0x98]);
    Cltq      "cltq"       Plain         Fixed(&[0x48, 0x98]);
    /// rdx = sign of rax.
    Cltd      "cltd"       Plain         Fixed(&[0x99]);
    Cqto      "cqto"       Plain         Fixed(&[0x48, 0x99]);

    // Users of flags.
    Jcc       "j"          Condition     Jcc;
    Set       "set"        ConditionByte Set;
    Cmov      "cmov"       Condition     Cmov;

    // Control.
    Jmp       "jmp"        Plain         Jmp;
    Call      "call"       Plain         Call;
    CallInd   "call"       Indirect      CallInd;
    Ret       "ret"        Plain         Fixed(&[0xc3]);
    Leave     "leave"      Plain         Fixed(&[0xc9]);
    Ud2       "ud2"        Plain         Fixed(&[0x0f, 0x0b]);
    Endbr64   "endbr64"    Plain         Fixed(&[0xf3, 0x0f, 0x1e, 0xfa]);
    RepMovsb  "rep movsb"  Plain         Fixed(&[0xf3, 0xa4]);
    RepMovsq  "rep movsq"  Plain         Fixed(&[0xf3, 0x48, 0xa5]);

    // Floats.
    /// Between two registers, or with memory that is aligned to 16.
    Movaps    "movaps"     Plain         VectorMove(Prefix::None, 0x28, 0x29);
    Movups    "movups"     Plain         VectorMove(Prefix::None, 0x10, 0x11);
    Movs      "movs"       Float         VectorMove(Prefix::Scalar, 0x10, 0x11);
    Adds      "adds"       Float         Vector(Prefix::Scalar, 0x58);
    Subs      "subs"       Float         Vector(Prefix::Scalar, 0x5c);
    Muls      "muls"       Float         Vector(Prefix::Scalar, 0x59);
    Divs      "divs"       Float         Vector(Prefix::Scalar, 0x5e);
    Ucomis    "ucomis"     Float         Vector(Prefix::Packed, 0x2e);
    Andps     "andps"      Plain         Vector(Prefix::None, 0x54);
    Xorps     "xorps"      Plain         Vector(Prefix::None, 0x57);
    Cvtsi2ss  "cvtsi2ss"   FromInt       Vector(Prefix::F3, 0x2a);
    Cvtsi2sd  "cvtsi2sd"   FromInt       Vector(Prefix::F2, 0x2a);
    Cvttss2si "cvttss2si"  ToInt         Vector(Prefix::F3, 0x2c);
    Cvttsd2si "cvttsd2si"  ToInt         Vector(Prefix::F2, 0x2c);
    Cvtss2sd  "cvtss2sd"   Plain         Vector(Prefix::F3, 0x5a);
    Cvtsd2ss  "cvtsd2ss"   Plain         Vector(Prefix::F2, 0x5a);
    Movd      "mov"        Bits          Bits;
}
