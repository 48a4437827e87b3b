//! Values with definedness: 64 bits, each of which may be undefined.
//!
//! An op's result bit is undefined if it could differ with the undefined bits of its operands.
//! Bitwise ops, shifts, extensions and addition are exact (addition by comparing the least and the
//! greatest sum, as known-bits analyses do); multiplication is exact about trailing bits, integer
//! comparisons about ranges; division and floats are all or nothing, except that a value which is
//! certainly a NaN stays one.

use crate::ir::eval::{eval, sign_extend};
use crate::ir::ops::{Cond, Want};
use crate::ir::{Class, Op};

/// A 64-bit value and which of its bits are undefined.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Bits {
    pub value: u64,
    /// A one for each undefined bit.
    pub undefined: u64,
}

/// Why an op has no value.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Division by zero, or a quotient that does not fit.
    Division,
    /// Whether it divides by zero depends on undefined bits.
    Undefined,
}

/// All ones in the low bits that a value of `class` has.
pub fn mask(class: Class) -> u64 {
    if class.is_wide() { u64::MAX } else { 0xffff_ffff }
}

impl Bits {
    pub const ZERO: Bits = Bits::defined(0);
    pub const UNDEFINED: Bits = Bits { value: 0, undefined: u64::MAX };

    pub const fn defined(value: u64) -> Bits {
        Bits { value, undefined: 0 }
    }

    pub fn is_defined(self) -> bool {
        self.undefined == 0
    }

    /// The value with zeros above its class.
    pub fn cut(self, class: Class) -> Bits {
        Bits { value: self.value & mask(class), undefined: self.undefined & mask(class) }
    }

    /// The value with everything above its low `bits` undefined.
    pub fn garbage_above(self, bits: u32) -> Bits {
        Bits { value: self.value, undefined: self.undefined | u64::MAX << bits }
    }

    /// The least value it may have, as an unsigned number.
    fn least(self) -> u64 {
        self.value & !self.undefined
    }

    /// The greatest value it may have, as an unsigned number.
    fn greatest(self) -> u64 {
        self.value | self.undefined
    }

    /// Whether the low 32 bits are not all zero; `None` if that depends on undefined ones.
    pub fn truth(self) -> Option<bool> {
        let low = self.cut(Class::W);
        match (low.least(), low.greatest()) {
            (1.., _) => Some(true),
            (0, 0) => Some(false),
            (0, 1..) => None,
        }
    }

    fn map(self, f: impl Fn(u64) -> u64) -> Bits {
        Bits { value: f(self.value), undefined: f(self.undefined) }
    }
}

/// The value of a pure op.
pub fn apply(op: Op, class: Class, args: [Bits; 3]) -> Result<Bits, Fault> {
    let wants = op.wants(class);
    let mut cut = [Bits::ZERO; 3];
    for i in 0..3 {
        if let Want::A(class) = wants[i] {
            cut[i] = args[i].cut(class);
        }
    }
    if is_shift(op) {
        let count = if class.is_wide() { 63 } else { 31 };
        cut[1] = cut[1].map(|bits| bits & count);
    }
    let [a, b, c] = cut;
    let undefined = if a.undefined | b.undefined | c.undefined == 0 {
        match eval(op, class, [a.value, b.value, c.value]) {
            Some(value) => return Ok(Bits::defined(value)),
            None if op.traps() && class.is_int() => return Err(Fault::Division),
            None if class.is_float() => return Ok(unknown_nan(class)),
            None => Bits::UNDEFINED,
        }
    } else if let Some((cond, operands)) = op.comparison() {
        comparison(op, cond, operands, [a, b])
    } else if wants[0] == Want::A(class) && class.is_float() || is_conversion(op) {
        float(op, class, wants[0], [a, b])
    } else {
        integer(op, class, [a, b, c])?
    };
    Ok(undefined.cut(class))
}

fn is_shift(op: Op) -> bool {
    matches!(op, Op::Sar | Op::Shr | Op::Shl | Op::Rotl | Op::Rotr)
}

fn is_conversion(op: Op) -> bool {
    matches!(
        op,
        Op::Exts
            | Op::Truncd
            | Op::Stosi
            | Op::Stoui
            | Op::Dtosi
            | Op::Dtoui
            | Op::Swtof
            | Op::Uwtof
            | Op::Sltof
            | Op::Ultof
    )
}

/// Quiet, with sign and payload undefined.
fn unknown_nan(class: Class) -> Bits {
    if class == Class::S {
        Bits { value: 0x7fc0_0000, undefined: 0x803f_ffff }
    } else {
        Bits { value: 0x7ff8 << 48, undefined: 1 << 63 | ((1 << 51) - 1) }
    }
}

/// True if the value is a NaN whatever its undefined bits are.
fn is_certain_nan(a: Bits, class: Class) -> bool {
    let mantissa = if class == Class::S { 23 } else { 52 };
    let exponent = (mask(class) >> 1) & (u64::MAX << mantissa);
    let payload = (1 << mantissa) - 1;
    let least = a.least();
    least & exponent == exponent && least & payload != 0
}

/// Float arithmetic and conversions with undefined operand bits.
fn float(op: Op, class: Class, first: Want, [a, b]: [Bits; 2]) -> Bits {
    match op {
        Op::Copy => return a,
        Op::Neg => {
            let sign = 1 << (class.size() * 8 - 1);
            return Bits { value: a.value ^ sign, undefined: a.undefined };
        }
        _ => {}
    }
    let Want::A(operands) = first else { return Bits::UNDEFINED };
    let nan = operands.is_float() && (is_certain_nan(a, operands) || is_certain_nan(b, operands));
    if nan && class.is_float() { unknown_nan(class) } else { Bits::UNDEFINED }
}

fn select(condition: Bits, a: Bits, b: Bits) -> Bits {
    match condition.truth() {
        Some(true) => a,
        Some(false) => b,
        None => Bits { value: a.value, undefined: a.undefined | b.undefined | (a.value ^ b.value) },
    }
}

/// A comparison with undefined operand bits.
fn comparison(op: Op, cond: Cond, class: Class, [a, b]: [Bits; 2]) -> Bits {
    let unknown = Bits { value: 0, undefined: 1 };
    let value = |a: u64, b: u64| eval(op, Class::W, [a, b, 0]);
    if class.is_float() {
        let (nan_a, nan_b) = (is_certain_nan(a, class), is_certain_nan(b, class));
        // Of a NaN only that it is one matters.
        let answer = if nan_a || nan_b { value(a.value, b.value) } else { None };
        return answer.map_or(unknown, Bits::defined);
    }
    let differ = (a.value ^ b.value) & !a.undefined & !b.undefined;
    if matches!(cond, Cond::Eq | Cond::Ne) {
        let answer = if differ != 0 { value(0, 1) } else { None };
        return answer.map_or(unknown, Bits::defined);
    }
    // A monotonic relation whose answer is the same at both extremes is certain.
    let signed = matches!(cond, Cond::Sge | Cond::Sgt | Cond::Sle | Cond::Slt);
    let sign = if signed { 1 << (class.size() * 8 - 1) } else { 0 };
    let least = |x: Bits| x.least() | x.undefined & sign;
    let greatest = |x: Bits| x.greatest() & !(x.undefined & sign);
    let low = value(least(a), greatest(b));
    let high = value(greatest(a), least(b));
    if low == high { low.map_or(unknown, Bits::defined) } else { unknown }
}

/// Integer ops with undefined operand bits, of which at least one is there.
fn integer(op: Op, class: Class, [a, b, c]: [Bits; 3]) -> Result<Bits, Fault> {
    let value = eval(op, class, [a.value, b.value, c.value]).unwrap_or(0);
    let either = a.undefined | b.undefined;
    let undefined = match op {
        Op::Add => either | sum(a.least(), b.least()) ^ sum(a.greatest(), b.greatest()),
        Op::Sub => {
            either | a.least().wrapping_sub(b.greatest()) ^ a.greatest().wrapping_sub(b.least())
        }
        Op::Neg => a.undefined | a.least().wrapping_neg() ^ a.greatest().wrapping_neg(),
        Op::And => either & a.greatest() & b.greatest(),
        Op::Or => either & !(a.least() | b.least()),
        Op::Xor => either,
        Op::Mul => match first_undefined_of_product(a, b) {
            64.. => 0,
            bit => u64::MAX << bit,
        },
        Op::Sar | Op::Shr | Op::Shl | Op::Rotl | Op::Rotr => {
            if b.undefined == 0 {
                // The bits of the mask move as the bits of the value do.
                eval(op, class, [a.undefined, b.value, 0]).unwrap_or(u64::MAX)
            } else if a.greatest() == 0 {
                0
            } else {
                u64::MAX
            }
        }
        Op::Extsb
        | Op::Extub
        | Op::Extsh
        | Op::Extuh
        | Op::Extsw
        | Op::Extuw
        | Op::Bswap
        | Op::Cast
        | Op::Copy => eval(op, class, [a.undefined, 0, 0]).unwrap_or(u64::MAX),
        Op::Select => return Ok(select(a, b, c)),
        Op::Div | Op::Rem | Op::Udiv | Op::Urem => {
            let minus_one = sign_extend(b.value, class.size() * 8) == u64::MAX;
            let may_overflow = matches!(op, Op::Div | Op::Rem) && minus_one;
            if b.undefined != 0 || may_overflow {
                return Err(Fault::Undefined);
            }
            if b.value == 0 {
                return Err(Fault::Division);
            }
            u64::MAX
        }
        // Always right, if not exact.
        _ => u64::MAX,
    };
    Ok(Bits { value, undefined })
}

fn sum(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

/// The lowest bit of a product that undefined bits of the factors can change; 64 or more if none.
fn first_undefined_of_product(a: Bits, b: Bits) -> u32 {
    let from_a = a.undefined.trailing_zeros() + b.greatest().trailing_zeros();
    let from_b = b.undefined.trailing_zeros() + a.greatest().trailing_zeros();
    from_a.min(from_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: u64, undefined: u64) -> Bits {
        Bits { value: value & !undefined, undefined }
    }

    /// All values the undefined bits allow.
    fn values(x: Bits) -> Vec<u64> {
        let places: Vec<u32> = (0..64).filter(|i| x.undefined >> i & 1 != 0).collect();
        let scatter =
            |n: u64| places.iter().enumerate().fold(0, |v, (i, &p)| v | (n >> i & 1) << p);
        (0..1u64 << places.len()).map(|n| x.least() | scatter(n)).collect()
    }

    /// Checks an op against all values of its undefined bits: no bit that varies may be called
    /// defined; where `exact`, no bit that does not vary may be called undefined.
    fn check(op: Op, class: Class, a: Bits, b: Bits, exact: bool) {
        let Ok(got) = apply(op, class, [a, b, Bits::ZERO]) else { return };
        let mut seen = (u64::MAX, 0);
        for x in values(a) {
            for y in values(b) {
                let Some(v) = eval(op, class, [x, y, 0]) else { return };
                seen = (seen.0 & v, seen.1 | v);
                assert_eq!(
                    v & !got.undefined,
                    got.least(),
                    "{} {class:?} {a:x?} {b:x?}",
                    op.name()
                );
            }
        }
        let varies = seen.1 & !seen.0;
        if exact {
            assert_eq!(varies, got.undefined, "{} {class:?} {a:x?} {b:x?}", op.name());
        }
    }

    #[test]
    fn undefined_bits_cover_what_varies() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let exact =
            [Op::And, Op::Or, Op::Xor, Op::Add, Op::Sub, Op::Extsb, Op::Extuh, Op::Bswap, Op::Copy];
        for _ in 0..40 {
            let mut operand = || {
                let undefined = 1 << (random() % 64) | 1 << (random() % 32) | 1 << (random() % 9);
                bits(random() & random() & random(), if random() % 4 == 0 { 0 } else { undefined })
            };
            let (a, b) = (operand(), operand());
            for &op in Op::ALL {
                for class in [Class::W, Class::L] {
                    let known =
                        op.is_pure() && matches!(op.wants(class)[0], Want::A(c) if c.is_int());
                    if known && op != Op::Select {
                        check(op, class, a, b, exact.contains(&op));
                    }
                }
            }
        }
    }

    #[test]
    fn comparisons_know_ranges() {
        let small = bits(0, 0xff);
        let answer = |op, a, b| apply(op, Class::W, [a, b, Bits::ZERO]).expect("a value");
        assert_eq!(answer(Op::Cultw, small, Bits::defined(256)), Bits::defined(1));
        assert_eq!(answer(Op::Cultw, small, Bits::defined(255)), bits(0, 1));
        assert_eq!(answer(Op::Csgew, small, Bits::defined(u64::MAX)), Bits::defined(1));
        assert_eq!(answer(Op::Ceqw, small, Bits::defined(256)), Bits::ZERO);
        assert_eq!(answer(Op::Csltl, bits(0, 1 << 63), Bits::ZERO), bits(0, 1));
        assert_eq!(answer(Op::Ceqw, bits(5, 1 << 40), Bits::defined(5)), Bits::defined(1));
    }

    #[test]
    fn a_nan_stays_a_nan() {
        let nan = apply(Op::Div, Class::D, [Bits::ZERO; 3]).expect("a value");
        assert_ne!(nan.undefined, 0);
        let sum = apply(Op::Add, Class::D, [nan, Bits::UNDEFINED, Bits::ZERO]);
        assert_eq!(sum, Ok(nan));
        let test = apply(Op::Cuod, Class::W, [sum.expect("a value"), Bits::ZERO, Bits::ZERO]);
        assert_eq!(test, Ok(Bits::defined(1)));
    }

    #[test]
    fn division_by_undefined_bits_is_reported() {
        let [one, unknown] = [Bits::defined(1), bits(0, 1)];
        assert_eq!(apply(Op::Udiv, Class::W, [one, unknown, one]), Err(Fault::Undefined));
        assert_eq!(apply(Op::Udiv, Class::W, [unknown, one, one]), Ok(bits(0, 0xffff_ffff)));
        assert_eq!(apply(Op::Rem, Class::L, [one, Bits::ZERO, one]), Err(Fault::Division));
    }
}
