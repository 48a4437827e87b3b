//! THE op table: one row an op. The parser, the checker, the printer, the interpreter and the
//! passes read it; nobody repeats it.

use super::Class;

/// What class an operand must have, given the class of the instruction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Want {
    /// The op does not exist in this class.
    Invalid,
    /// No operand here.
    Nothing,
    /// An operand of this class. A `w` may be given an `l` (its low half is used).
    A(Class),
    /// An address, class `l`.
    Address,
    /// Any integer constant, not a temporary (the size of a `blit`, lines and columns).
    Number,
}

/// What an op does to memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A pure function of its operands: may be removed, merged, moved and run early, unless it
    /// [traps](Op::traps).
    Pure,
    /// Reads memory at its first operand.
    Read,
    /// Writes memory: a store at its second operand, a blit at its second (and reads its first).
    Write,
    /// Anything: calls, variadic lists. Never removed or moved.
    Any,
    /// Touches no memory, but stays where it is: run-time allocation, debug locations.
    Pinned,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    /// For each class (`w l s d`), what each operand must be. Ops without a result stand under `w`.
    pub operands: [[Want; 3]; 4],
    pub effect: Effect,
    /// `op a, b` is `op b, a`.
    pub commutative: bool,
    /// May stop the program for some operands (division by zero): not to be run early.
    pub traps: bool,
    /// Has a result.
    pub result: bool,
    /// Only passes write it; the parser takes it under `--internal-ops`.
    pub internal: bool,
}

const fn want(letter: u8) -> Want {
    match letter {
        b'w' => Want::A(Class::W),
        b'l' => Want::A(Class::L),
        b's' => Want::A(Class::S),
        b'd' => Want::A(Class::D),
        b'm' => Want::Address,
        b'n' => Want::Number,
        b'-' => Want::Nothing,
        b'.' => Want::Invalid,
        _ => panic!("no such letter in the op table"),
    }
}

/// Columns of letters, one string a operand, one letter a class.
const fn wants(columns: [&str; 3]) -> [[Want; 3]; 4] {
    let mut table = [[Want::Invalid; 3]; 4];
    let mut class = 0;
    while class < 4 {
        let mut operand = 0;
        while operand < 3 {
            table[class][operand] = want(columns[operand].as_bytes()[class]);
            operand += 1;
        }
        class += 1;
    }
    table
}

const fn has(flags: &str, flag: u8) -> bool {
    let bytes = flags.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == flag {
            return true;
        }
        i += 1;
    }
    false
}

macro_rules! ops {
    ($($(#[$doc:meta])* $op:ident $name:literal $a:literal $b:literal $c:literal
       $effect:ident $flags:literal;)*) => {
        /// An operation. The text form is its [`Row::name`].
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $op,)* }

        impl Op {
            pub const ALL: &[Op] = &[$(Op::$op,)*];
        }

        static ROWS: &[Row] = &[$(Row {
            name: $name,
            operands: wants([$a, $b, $c]),
            effect: Effect::$effect,
            commutative: has($flags, b'c'),
            traps: has($flags, b't'),
            result: has($flags, b'r'),
            internal: has($flags, b'i'),
        },)*];
    };
}

// Columns: op, name, what each of three operands must be for the classes w l s d
// (`.` not in this class, `-` no operand, `m` address, `n` number), effect,
// flags: r has a result, c commutative, t traps, i internal.
ops! {
    // Arithmetic and bits.
    Add     "add"     "wlsd" "wlsd" "----" Pure "rc";
    Sub     "sub"     "wlsd" "wlsd" "----" Pure "r";
    Neg     "neg"     "wlsd" "----" "----" Pure "r";
    Div     "div"     "wlsd" "wlsd" "----" Pure "rt";
    Rem     "rem"     "wl.." "wl.." "--.." Pure "rt";
    Udiv    "udiv"    "wl.." "wl.." "--.." Pure "rt";
    Urem    "urem"    "wl.." "wl.." "--.." Pure "rt";
    Mul     "mul"     "wlsd" "wlsd" "----" Pure "rc";
    And     "and"     "wl.." "wl.." "--.." Pure "rc";
    Or      "or"      "wl.." "wl.." "--.." Pure "rc";
    Xor     "xor"     "wl.." "wl.." "--.." Pure "rc";
    Sar     "sar"     "wl.." "ww.." "--.." Pure "r";
    Shr     "shr"     "wl.." "ww.." "--.." Pure "r";
    Shl     "shl"     "wl.." "ww.." "--.." Pure "r";

    // Comparisons. The result is a w or an l, 0 or 1.
    Ceqw    "ceqw"    "ww.." "ww.." "--.." Pure "rc";
    Cnew    "cnew"    "ww.." "ww.." "--.." Pure "rc";
    Csgew   "csgew"   "ww.." "ww.." "--.." Pure "r";
    Csgtw   "csgtw"   "ww.." "ww.." "--.." Pure "r";
    Cslew   "cslew"   "ww.." "ww.." "--.." Pure "r";
    Csltw   "csltw"   "ww.." "ww.." "--.." Pure "r";
    Cugew   "cugew"   "ww.." "ww.." "--.." Pure "r";
    Cugtw   "cugtw"   "ww.." "ww.." "--.." Pure "r";
    Culew   "culew"   "ww.." "ww.." "--.." Pure "r";
    Cultw   "cultw"   "ww.." "ww.." "--.." Pure "r";
    Ceql    "ceql"    "ll.." "ll.." "--.." Pure "rc";
    Cnel    "cnel"    "ll.." "ll.." "--.." Pure "rc";
    Csgel   "csgel"   "ll.." "ll.." "--.." Pure "r";
    Csgtl   "csgtl"   "ll.." "ll.." "--.." Pure "r";
    Cslel   "cslel"   "ll.." "ll.." "--.." Pure "r";
    Csltl   "csltl"   "ll.." "ll.." "--.." Pure "r";
    Cugel   "cugel"   "ll.." "ll.." "--.." Pure "r";
    Cugtl   "cugtl"   "ll.." "ll.." "--.." Pure "r";
    Culel   "culel"   "ll.." "ll.." "--.." Pure "r";
    Cultl   "cultl"   "ll.." "ll.." "--.." Pure "r";
    Ceqs    "ceqs"    "ss.." "ss.." "--.." Pure "rc";
    Cges    "cges"    "ss.." "ss.." "--.." Pure "r";
    Cgts    "cgts"    "ss.." "ss.." "--.." Pure "r";
    Cles    "cles"    "ss.." "ss.." "--.." Pure "r";
    Clts    "clts"    "ss.." "ss.." "--.." Pure "r";
    Cnes    "cnes"    "ss.." "ss.." "--.." Pure "rc";
    Cos     "cos"     "ss.." "ss.." "--.." Pure "rc";
    Cuos    "cuos"    "ss.." "ss.." "--.." Pure "rc";
    Ceqd    "ceqd"    "dd.." "dd.." "--.." Pure "rc";
    Cged    "cged"    "dd.." "dd.." "--.." Pure "r";
    Cgtd    "cgtd"    "dd.." "dd.." "--.." Pure "r";
    Cled    "cled"    "dd.." "dd.." "--.." Pure "r";
    Cltd    "cltd"    "dd.." "dd.." "--.." Pure "r";
    Cned    "cned"    "dd.." "dd.." "--.." Pure "rc";
    Cod     "cod"     "dd.." "dd.." "--.." Pure "rc";
    Cuod    "cuod"    "dd.." "dd.." "--.." Pure "rc";

    // Memory. A store's operands are value, address; a blit's source, destination, bytes.
    Storeb  "storeb"  "w..." "m..." "-..." Write "";
    Storeh  "storeh"  "w..." "m..." "-..." Write "";
    Storew  "storew"  "w..." "m..." "-..." Write "";
    Storel  "storel"  "l..." "m..." "-..." Write "";
    Stores  "stores"  "s..." "m..." "-..." Write "";
    Stored  "stored"  "d..." "m..." "-..." Write "";
    Loadsb  "loadsb"  "mm.." "--.." "--.." Read "r";
    Loadub  "loadub"  "mm.." "--.." "--.." Read "r";
    Loadsh  "loadsh"  "mm.." "--.." "--.." Read "r";
    Loaduh  "loaduh"  "mm.." "--.." "--.." Read "r";
    Loadsw  "loadsw"  "mm.." "--.." "--.." Read "r";
    Loaduw  "loaduw"  "mm.." "--.." "--.." Read "r";
    Loadl   "loadl"   ".m.." ".-.." ".-.." Read "r";
    Loads   "loads"   "..m." "..-." "..-." Read "r";
    Loadd   "loadd"   "...m" "...-" "...-" Read "r";
    Blit    "blit"    "m..." "m..." "n..." Write "";

    // Extensions, truncations, conversions.
    Extsb   "extsb"   "ww.." "--.." "--.." Pure "r";
    Extub   "extub"   "ww.." "--.." "--.." Pure "r";
    Extsh   "extsh"   "ww.." "--.." "--.." Pure "r";
    Extuh   "extuh"   "ww.." "--.." "--.." Pure "r";
    Extsw   "extsw"   ".w.." ".-.." ".-.." Pure "r";
    Extuw   "extuw"   ".w.." ".-.." ".-.." Pure "r";
    Exts    "exts"    "...s" "...-" "...-" Pure "r";
    Truncd  "truncd"  "..d." "..-." "..-." Pure "r";
    Stosi   "stosi"   "ss.." "--.." "--.." Pure "r";
    Stoui   "stoui"   "ss.." "--.." "--.." Pure "r";
    Dtosi   "dtosi"   "dd.." "--.." "--.." Pure "r";
    Dtoui   "dtoui"   "dd.." "--.." "--.." Pure "r";
    Swtof   "swtof"   "..ww" "..--" "..--" Pure "r";
    Uwtof   "uwtof"   "..ww" "..--" "..--" Pure "r";
    Sltof   "sltof"   "..ll" "..--" "..--" Pure "r";
    Ultof   "ultof"   "..ll" "..--" "..--" Pure "r";
    Cast    "cast"    "sdwl" "----" "----" Pure "r";
    Copy    "copy"    "wlsd" "----" "----" Pure "r";

    // Stack allocation. In the entry block with a constant size it becomes a slot.
    Alloc4  "alloc4"  ".l.." ".-.." ".-.." Pinned "r";
    Alloc8  "alloc8"  ".l.." ".-.." ".-.." Pinned "r";
    Alloc16 "alloc16" ".l.." ".-.." ".-.." Pinned "r";

    // Variadic lists, calls, debug locations.
    Vaarg   "vaarg"   "mmmm" "----" "----" Any "r";
    Vastart "vastart" "m..." "-..." "-..." Any "";
    /// Operands: callee, then the row of the call table. The result is optional.
    Call    "call"    "mmmm" "----" "----" Any "r";
    /// Operands: line, column (0: none).
    Dbgloc  "dbgloc"  "n..." "n..." "-..." Pinned "";

    // Internal.
    Nop     "nop"     "-..." "-..." "-..." Pure "i";
    /// `select c, a, b`: a if the low 32 bits of c are not 0, else b.
    Select  "select"  "wwww" "wlsd" "wlsd" Pure "ri";
    /// Reverses the bytes.
    Bswap   "bswap"   "wl.." "--.." "--.." Pure "ri";
    Rotl    "rotl"    "wl.." "ww.." "--.." Pure "ri";
    Rotr    "rotr"    "wl.." "ww.." "--.." Pure "ri";
    /// The upper half of the product.
    Smulh   "smulh"   "wl.." "wl.." "--.." Pure "rci";
    Umulh   "umulh"   "wl.." "wl.." "--.." Pure "rci";
}

/// A relation that a comparison tests.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cond {
    Eq,
    Ne,
    Sge,
    Sgt,
    Sle,
    Slt,
    Uge,
    Ugt,
    Ule,
    Ult,
    /// Float relations are false if an operand is a NaN, but for `FNe` and `Uo`.
    FEq,
    FGe,
    FGt,
    FLe,
    FLt,
    FNe,
    /// Ordered: no operand is a NaN.
    O,
    /// Unordered.
    Uo,
}

impl Cond {
    /// The relation that holds exactly when this one does not. `None` for the float orders,
    /// whose negation (with NaN) has no name.
    pub fn negated(self) -> Option<Cond> {
        Some(match self {
            Cond::Eq => Cond::Ne,
            Cond::Ne => Cond::Eq,
            Cond::Sge => Cond::Slt,
            Cond::Sgt => Cond::Sle,
            Cond::Sle => Cond::Sgt,
            Cond::Slt => Cond::Sge,
            Cond::Uge => Cond::Ult,
            Cond::Ugt => Cond::Ule,
            Cond::Ule => Cond::Ugt,
            Cond::Ult => Cond::Uge,
            Cond::FEq => Cond::FNe,
            Cond::FNe => Cond::FEq,
            Cond::O => Cond::Uo,
            Cond::Uo => Cond::O,
            Cond::FGe | Cond::FGt | Cond::FLe | Cond::FLt => return None,
        })
    }

    /// The relation with its operands exchanged.
    pub fn swapped(self) -> Cond {
        match self {
            Cond::Sge => Cond::Sle,
            Cond::Sgt => Cond::Slt,
            Cond::Sle => Cond::Sge,
            Cond::Slt => Cond::Sgt,
            Cond::Uge => Cond::Ule,
            Cond::Ugt => Cond::Ult,
            Cond::Ule => Cond::Uge,
            Cond::Ult => Cond::Ugt,
            Cond::FGe => Cond::FLe,
            Cond::FGt => Cond::FLt,
            Cond::FLe => Cond::FGe,
            Cond::FLt => Cond::FGt,
            Cond::Eq | Cond::Ne | Cond::FEq | Cond::FNe | Cond::O | Cond::Uo => self,
        }
    }
}

const INT_CONDS: [Cond; 10] = [
    Cond::Eq,
    Cond::Ne,
    Cond::Sge,
    Cond::Sgt,
    Cond::Sle,
    Cond::Slt,
    Cond::Uge,
    Cond::Ugt,
    Cond::Ule,
    Cond::Ult,
];
const FLOAT_CONDS: [Cond; 8] =
    [Cond::FEq, Cond::FGe, Cond::FGt, Cond::FLe, Cond::FLt, Cond::FNe, Cond::O, Cond::Uo];

impl Op {
    #[inline]
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The op with that name.
    pub fn by_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }

    #[inline]
    pub fn traps(self) -> bool {
        self.row().traps
    }

    pub fn commutative(self) -> bool {
        self.row().commutative
    }

    #[inline]
    pub fn is_pure(self) -> bool {
        self.row().effect == Effect::Pure
    }

    /// What each operand must be for the class; `Want::Invalid` first if there is no such form.
    #[inline]
    pub fn wants(self, class: Class) -> &'static [Want; 3] {
        &self.row().operands[class as usize]
    }

    /// For a comparison: its relation and the class of its operands.
    pub fn comparison(self) -> Option<(Cond, Class)> {
        let n = (self as usize).checked_sub(Op::Ceqw as usize)?;
        Some(match n {
            0..10 => (INT_CONDS[n], Class::W),
            10..20 => (INT_CONDS[n - 10], Class::L),
            20..28 => (FLOAT_CONDS[n - 20], Class::S),
            28..36 => (FLOAT_CONDS[n - 28], Class::D),
            _ => return None,
        })
    }

    /// The comparison of operands of `class` for `cond`; `None` if there is none (an integer
    /// relation of floats).
    pub fn compare(cond: Cond, class: Class) -> Option<Op> {
        let (table, first): (&[Cond], Op) = match class {
            Class::W => (&INT_CONDS, Op::Ceqw),
            Class::L => (&INT_CONDS, Op::Ceql),
            Class::S => (&FLOAT_CONDS, Op::Ceqs),
            Class::D => (&FLOAT_CONDS, Op::Ceqd),
        };
        let n = table.iter().position(|&c| c == cond)?;
        Some(Op::ALL[first as usize + n])
    }

    /// For a load: how many bytes it reads.
    pub fn load_size(self) -> Option<u32> {
        Some(match self {
            Op::Loadsb | Op::Loadub => 1,
            Op::Loadsh | Op::Loaduh => 2,
            Op::Loadsw | Op::Loaduw | Op::Loads => 4,
            Op::Loadl | Op::Loadd => 8,
            _ => return None,
        })
    }

    /// For a store (not a blit): how many bytes it writes.
    pub fn store_size(self) -> Option<u32> {
        Some(match self {
            Op::Storeb => 1,
            Op::Storeh => 2,
            Op::Storew | Op::Stores => 4,
            Op::Storel | Op::Stored => 8,
            _ => return None,
        })
    }

    pub fn is_load(self) -> bool {
        self.load_size().is_some()
    }

    pub fn is_store(self) -> bool {
        self.store_size().is_some()
    }

    /// For a stack allocation: its alignment.
    pub fn alloc_align(self) -> Option<u32> {
        Some(match self {
            Op::Alloc4 => 4,
            Op::Alloc8 => 8,
            Op::Alloc16 => 16,
            _ => return None,
        })
    }

    /// For an integer extension: how many low bits it keeps, and whether it repeats the sign.
    pub fn extension(self) -> Option<(u32, bool)> {
        Some(match self {
            Op::Extsb => (8, true),
            Op::Extub => (8, false),
            Op::Extsh => (16, true),
            Op::Extuh => (16, false),
            Op::Extsw => (32, true),
            Op::Extuw => (32, false),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_match_their_names() {
        for &op in Op::ALL {
            let Some((cond, class)) = op.comparison() else { continue };
            assert_eq!(Op::compare(cond, class), Some(op));
            assert!(op.name().ends_with(class.letter()), "{}", op.name());
        }
        assert_eq!(Op::Cugtl.comparison(), Some((Cond::Ugt, Class::L)));
        assert_eq!(Op::Cuod.comparison(), Some((Cond::Uo, Class::D)));
        assert_eq!(Op::Storeb.comparison(), None);
    }
}
