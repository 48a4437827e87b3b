//! The one evaluator of ops: what a pure op computes from the bits of its operands.
//!
//! Folding, trip counts, the interpreter and the tests all ask here. An answer is given only where
//! every target computes the same bits: division by zero, `INT_MIN / -1`, a float out of the range
//! of the integer it becomes, and arithmetic that gives a NaN (whose payload and sign differ by
//! machine) have none.

use super::ops::Cond;
use super::{Class, Op};

/// The value of a pure op on operands given as bits.
///
/// Of a `w` or `s` operand only the low 32 bits count. A `w` or `s` result has zeros above its low
/// 32 bits. `None` if the op is not pure, does not exist in `class`, traps, or has no single answer
/// on all targets.
#[inline]
pub fn eval(op: Op, class: Class, args: [u64; 3]) -> Option<u64> {
    let [a, b, c] = args;
    let value = match op.comparison() {
        _ if class.is_float() => float(op, class, a, b, c)?,
        Some((cond, operands)) => u64::from(compare(cond, operands, a, b)),
        None => integer(op, class, a, b, c)?,
    };
    Some(if class.is_wide() { value } else { low(value) })
}

/// Whether the relation holds between two values of `class`.
#[inline]
pub fn compare(cond: Cond, class: Class, a: u64, b: u64) -> bool {
    match class {
        Class::W => relation(cond, sign_extend(a, 32) as i64, sign_extend(b, 32) as i64),
        Class::L => relation(cond, a as i64, b as i64),
        Class::S => float_relation(cond, f64::from(single(a)), f64::from(single(b))),
        Class::D => float_relation(cond, f64::from_bits(a), f64::from_bits(b)),
    }
}

/// What a load gives of the bytes it read, which are the low bits of `raw`.
pub fn loaded(op: Op, class: Class, raw: u64) -> u64 {
    let value = match op {
        Op::Loadsb => sign_extend(raw, 8),
        Op::Loadub => raw & 0xff,
        Op::Loadsh => sign_extend(raw, 16),
        Op::Loaduh => raw & 0xffff,
        Op::Loadsw => sign_extend(raw, 32),
        _ => raw,
    };
    match op.load_size() {
        Some(8) => value,
        Some(_) if op == Op::Loaduw || !class.is_wide() => low(value),
        Some(_) => value,
        None => panic!("{} is not a load", op.name()),
    }
}

/// The low `bits` bits of `value`, with their sign in all bits above.
#[inline]
pub fn sign_extend(value: u64, bits: u32) -> u64 {
    let shift = 64 - bits;
    ((value << shift) as i64 >> shift) as u64
}

fn low(value: u64) -> u64 {
    value & 0xffff_ffff
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn relation(cond: Cond, a: i64, b: i64) -> bool {
    // Sign-extended operands keep their unsigned order too.
    let (ua, ub) = (a as u64, b as u64);
    match cond {
        Cond::Eq => a == b,
        Cond::Ne => a != b,
        Cond::Sge => a >= b,
        Cond::Sgt => a > b,
        Cond::Sle => a <= b,
        Cond::Slt => a < b,
        Cond::Uge => ua >= ub,
        Cond::Ugt => ua > ub,
        Cond::Ule => ua <= ub,
        Cond::Ult => ua < ub,
        Cond::FEq
        | Cond::FGe
        | Cond::FGt
        | Cond::FLe
        | Cond::FLt
        | Cond::FNe
        | Cond::O
        | Cond::Uo => {
            panic!("a float relation of integers")
        }
    }
}

fn float_relation(cond: Cond, a: f64, b: f64) -> bool {
    match cond {
        Cond::FEq => a == b,
        Cond::FGe => a >= b,
        Cond::FGt => a > b,
        Cond::FLe => a <= b,
        Cond::FLt => a < b,
        Cond::FNe => a != b,
        Cond::O => !a.is_nan() && !b.is_nan(),
        Cond::Uo => a.is_nan() || b.is_nan(),
        Cond::Eq
        | Cond::Ne
        | Cond::Sge
        | Cond::Sgt
        | Cond::Sle
        | Cond::Slt
        | Cond::Uge
        | Cond::Ugt
        | Cond::Ule
        | Cond::Ult => panic!("an integer relation of floats"),
    }
}

/// Ops other than comparisons that give a `w` or an `l`. Bits above a `w` result are cut later.
fn integer(op: Op, class: Class, a: u64, b: u64, c: u64) -> Option<u64> {
    let wide = class == Class::L;
    let bits = if wide { 64 } else { 32 };
    // Operands of the class as signed and as unsigned numbers.
    let (sa, sb) = (sign_extend(a, bits) as i64, sign_extend(b, bits) as i64);
    let (ua, ub) = if wide { (a, b) } else { (low(a), low(b)) };
    let count = b as u32 % bits;
    Some(match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Neg => a.wrapping_neg(),
        Op::Div => signed_quotient(sa, sb, bits)?.0 as u64,
        Op::Rem => signed_quotient(sa, sb, bits)?.1 as u64,
        Op::Udiv => ua.checked_div(ub)?,
        Op::Urem => ua.checked_rem(ub)?,
        Op::Mul => a.wrapping_mul(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Sar => (sa >> count) as u64,
        Op::Shr => ua >> count,
        Op::Shl => a << count,
        Op::Extsb => sign_extend(a, 8),
        Op::Extub => a & 0xff,
        Op::Extsh => sign_extend(a, 16),
        Op::Extuh => a & 0xffff,
        Op::Extsw if wide => sign_extend(a, 32),
        Op::Extuw if wide => low(a),
        Op::Stosi => to_signed(f64::from(single(a)), bits)?,
        Op::Dtosi => to_signed(f64::from_bits(a), bits)?,
        Op::Stoui => to_unsigned(f64::from(single(a)), bits)?,
        Op::Dtoui => to_unsigned(f64::from_bits(a), bits)?,
        Op::Cast | Op::Copy => a,
        Op::Select => {
            if low(a) != 0 {
                b
            } else {
                c
            }
        }
        Op::Bswap if wide => a.swap_bytes(),
        Op::Bswap => u64::from((a as u32).swap_bytes()),
        Op::Rotl if wide => a.rotate_left(count),
        Op::Rotl => u64::from((a as u32).rotate_left(count)),
        Op::Rotr if wide => a.rotate_right(count),
        Op::Rotr => u64::from((a as u32).rotate_right(count)),
        Op::Smulh => ((i128::from(sa) * i128::from(sb)) >> bits) as u64,
        Op::Umulh => ((u128::from(ua) * u128::from(ub)) >> bits) as u64,
        _ => return None,
    })
}

/// Quotient and remainder, unless the divisor is 0 or the quotient does not fit.
fn signed_quotient(a: i64, b: i64, bits: u32) -> Option<(i64, i64)> {
    let quotient = a.checked_div(b)?;
    let fits = bits == 64 || i32::try_from(quotient).is_ok();
    fits.then(|| (quotient, a % b))
}

/// Truncated towards 0, if it fits a signed integer of `bits`.
fn to_signed(value: f64, bits: u32) -> Option<u64> {
    let limit = 2f64.powi(bits as i32 - 1);
    let value = value.trunc();
    (value >= -limit && value < limit).then_some(value as i64 as u64)
}

/// Truncated towards 0, if it fits an unsigned integer of `bits`.
fn to_unsigned(value: f64, bits: u32) -> Option<u64> {
    let value = value.trunc();
    (value >= 0.0 && value < 2f64.powi(bits as i32)).then_some(value as u64)
}

/// Ops that give an `s` or a `d`.
fn float(op: Op, class: Class, a: u64, b: u64, c: u64) -> Option<u64> {
    match op {
        Op::Cast | Op::Copy => return Some(a),
        Op::Select => return Some(if low(a) != 0 { b } else { c }),
        Op::Neg if class == Class::S => return Some(a ^ 1 << 31),
        Op::Neg => return Some(a ^ 1 << 63),
        _ => {}
    }
    if class == Class::S {
        let (x, y) = (single(a), single(b));
        let value = match op {
            Op::Add => x + y,
            Op::Sub => x - y,
            Op::Mul => x * y,
            Op::Div => x / y,
            Op::Truncd => f64::from_bits(a) as f32,
            Op::Swtof => a as i32 as f32,
            Op::Uwtof => a as u32 as f32,
            Op::Sltof => a as i64 as f32,
            Op::Ultof => a as f32,
            _ => return None,
        };
        (!value.is_nan()).then_some(u64::from(value.to_bits()))
    } else {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let value = match op {
            Op::Add => x + y,
            Op::Sub => x - y,
            Op::Mul => x * y,
            Op::Div => x / y,
            Op::Exts => f64::from(single(a)),
            Op::Swtof => f64::from(a as i32),
            Op::Uwtof => f64::from(a as u32),
            Op::Sltof => a as i64 as f64,
            Op::Ultof => a as f64,
            _ => return None,
        };
        (!value.is_nan()).then_some(value.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::ops::{Effect, Want};

    const W: Class = Class::W;
    const L: Class = Class::L;
    const S: Class = Class::S;
    const D: Class = Class::D;
    /// The least signed integers, and all ones, of 32 and 64 bits.
    const MIN32: u64 = 0x8000_0000;
    const MIN64: u64 = 1 << 63;
    const ONES32: u64 = 0xffff_ffff;
    const ONES64: u64 = !0;

    fn f(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    fn d(value: f64) -> u64 {
        value.to_bits()
    }

    fn check(rows: &[(Op, Class, u64, u64, Option<u64>)]) {
        for &(op, class, a, b, want) in rows {
            let got = eval(op, class, [a, b, 0]);
            assert_eq!(got, want, "{} {class:?} {a:#x}, {b:#x}", op.name());
        }
    }

    #[test]
    fn every_pure_op_has_a_value_in_each_of_its_classes() {
        for &op in Op::ALL {
            for class in Class::ALL {
                let wants = op.wants(class);
                let known =
                    op.row().effect == Effect::Pure && op != Op::Nop && wants[0] != Want::Invalid;
                let args = wants.map(|want| match want {
                    Want::A(Class::S) => f(1.0),
                    Want::A(Class::D) => d(1.0),
                    _ => 1,
                });
                assert_eq!(eval(op, class, args).is_some(), known, "{} {class:?}", op.name());
            }
        }
    }

    #[test]
    fn integer_arithmetic() {
        check(&[
            (Op::Add, W, ONES32, 1, Some(0)),
            (Op::Add, L, ONES32, 1, Some(1 << 32)),
            (Op::Add, L, ONES64, 2, Some(1)),
            (Op::Sub, W, 0, 1, Some(ONES32)),
            (Op::Sub, L, 0, 1, Some(ONES64)),
            (Op::Neg, W, MIN32, 0, Some(MIN32)),
            (Op::Neg, W, 1, 0, Some(ONES32)),
            (Op::Neg, L, MIN64, 0, Some(MIN64)),
            (Op::Mul, W, 0x10001, 0x10001, Some(0x20001)),
            (Op::Mul, L, 1 << 32, 1 << 32, Some(0)),
            (Op::Mul, L, ONES64, ONES64, Some(1)),
            (Op::Div, W, 7, ONES32 - 1, Some(0xffff_fffd)),
            (Op::Div, W, 0xdead_0000_0007, 2, Some(3)),
            (Op::Div, W, 7, 0xdead_0000_0000, None),
            (Op::Div, W, MIN32, ONES32, None),
            (Op::Div, W, MIN32, ONES64, None),
            (Op::Div, W, MIN32, 1, Some(MIN32)),
            (Op::Div, L, MIN32, ONES64, Some((MIN32 as i64).wrapping_neg() as u64)),
            (Op::Div, L, MIN64, ONES64, None),
            (Op::Div, L, ONES64 - 6, 2, Some(ONES64 - 2)),
            (Op::Rem, W, ONES32 - 6, 3, Some(ONES32)),
            (Op::Rem, W, 7, ONES32 - 2, Some(1)),
            (Op::Rem, W, MIN32, ONES32, None),
            (Op::Rem, L, MIN64, ONES64, None),
            (Op::Rem, L, 5, 0, None),
            (Op::Udiv, W, ONES32, 2, Some(0x7fff_ffff)),
            (Op::Udiv, W, ONES64, ONES32, Some(1)),
            (Op::Udiv, L, MIN64, ONES64, Some(0)),
            (Op::Udiv, W, 1, 0, None),
            (Op::Urem, W, ONES64, 10, Some(5)),
            (Op::Urem, L, ONES64, 10, Some(5)),
            (Op::Urem, L, 1, 0, None),
            (Op::And, W, ONES64, 0xf0f0_f0f0_f0f0, Some(0xf0f0_f0f0)),
            (Op::Or, L, MIN64, 1, Some(MIN64 | 1)),
            (Op::Xor, W, ONES64, 1, Some(0xffff_fffe)),
            (Op::Smulh, W, MIN32, 2, Some(ONES32)),
            (Op::Smulh, L, MIN64, MIN64, Some(1 << 62)),
            (Op::Umulh, W, ONES32, ONES32, Some(0xffff_fffe)),
            (Op::Umulh, L, ONES64, 3, Some(2)),
        ]);
    }

    #[test]
    fn shifts_count_modulo_the_width() {
        check(&[
            (Op::Shl, W, 1, 31, Some(MIN32)),
            (Op::Shl, W, 1, 32, Some(1)),
            (Op::Shl, W, 3, ONES64, Some(MIN32)),
            (Op::Shl, L, 1, 63, Some(MIN64)),
            (Op::Shl, L, 1, 64 + 5, Some(32)),
            (Op::Shl, L, 1, 1 << 32, Some(1)),
            (Op::Shr, W, ONES64, 28, Some(15)),
            (Op::Shr, W, 0xf_0000_0010, 4, Some(1)),
            (Op::Shr, L, MIN64, 63, Some(1)),
            (Op::Shr, L, MIN64, 64, Some(MIN64)),
            (Op::Sar, W, MIN32, 31, Some(ONES32)),
            (Op::Sar, W, 0x1_7fff_ffff, 30, Some(1)),
            (Op::Sar, W, MIN32, 33, Some(0xc000_0000)),
            (Op::Sar, L, MIN64, 63, Some(ONES64)),
            (Op::Sar, L, MIN64, 127, Some(ONES64)),
            (Op::Rotl, W, MIN32 | 1, 1, Some(3)),
            (Op::Rotl, W, 5, 32, Some(5)),
            (Op::Rotl, L, MIN64, 1, Some(1)),
            (Op::Rotr, W, 1, 1, Some(MIN32)),
            (Op::Rotr, L, 1, 65, Some(MIN64)),
            (Op::Bswap, W, 0x99_0102_0304, 0, Some(0x0403_0201)),
            (Op::Bswap, L, 0x0102_0304_0506_0708, 0, Some(0x0807_0605_0403_0201)),
        ]);
    }

    #[test]
    fn integer_comparisons() {
        let (minus, big) = (ONES32, 1 << 40);
        check(&[
            (Op::Ceqw, W, big | 5, 5, Some(1)),
            (Op::Ceql, W, big | 5, 5, Some(0)),
            (Op::Cnew, L, minus, ONES64, Some(0)),
            (Op::Cnel, L, minus, ONES64, Some(1)),
            (Op::Csltw, W, minus, 0, Some(1)),
            (Op::Cultw, W, minus, 0, Some(0)),
            (Op::Csltl, W, minus, 0, Some(0)),
            (Op::Csgtw, W, 0x7fff_ffff, MIN32, Some(1)),
            (Op::Cugtw, W, 0x7fff_ffff, MIN32, Some(0)),
            (Op::Cslew, W, MIN32, MIN32, Some(1)),
            (Op::Csgew, W, MIN32, 0, Some(0)),
            (Op::Culew, W, MIN32, 0x7fff_ffff, Some(0)),
            (Op::Cugew, W, MIN32, 0x7fff_ffff, Some(1)),
            (Op::Csltl, L, MIN64, 0, Some(1)),
            (Op::Cultl, L, MIN64, 0, Some(0)),
            (Op::Csgtl, W, 0, MIN64, Some(1)),
            (Op::Cugtl, W, 0, MIN64, Some(0)),
            (Op::Cslel, W, ONES64, 0, Some(1)),
            (Op::Csgel, W, ONES64, 0, Some(0)),
            (Op::Culel, W, ONES64, 0, Some(0)),
            (Op::Cugel, W, ONES64, 0, Some(1)),
        ]);
    }

    #[test]
    fn float_comparisons_with_nan_and_signed_zero() {
        let all = |suffix: char| {
            ["ceq", "cne", "cge", "cgt", "cle", "clt", "co", "cuo"]
                .map(|name| Op::by_name(&format!("{name}{suffix}")).expect("an op"))
        };
        // Columns in the order above.
        let rows: [(f64, f64, [u64; 8]); 8] = [
            (1.0, 2.0, [0, 1, 0, 0, 1, 1, 1, 0]),
            (2.0, 1.0, [0, 1, 1, 1, 0, 0, 1, 0]),
            (1.5, 1.5, [1, 0, 1, 0, 1, 0, 1, 0]),
            (0.0, -0.0, [1, 0, 1, 0, 1, 0, 1, 0]),
            (f64::NAN, 1.0, [0, 1, 0, 0, 0, 0, 0, 1]),
            (1.0, f64::NAN, [0, 1, 0, 0, 0, 0, 0, 1]),
            (f64::NAN, f64::NAN, [0, 1, 0, 0, 0, 0, 0, 1]),
            (f64::NEG_INFINITY, f64::INFINITY, [0, 1, 0, 0, 1, 1, 1, 0]),
        ];
        for (a, b, want) in rows {
            for class in [W, L] {
                let doubles = all('d').map(|op| eval(op, class, [d(a), d(b), 0]).expect("a value"));
                assert_eq!(doubles, want, "{a} {b}");
                let (sa, sb) = (f(a as f32) | 7 << 40, f(b as f32));
                let singles = all('s').map(|op| eval(op, class, [sa, sb, 0]).expect("a value"));
                assert_eq!(singles, want, "{a} {b}");
            }
        }
    }

    #[test]
    fn extensions_and_casts() {
        check(&[
            (Op::Extsb, W, 0x1280, 0, Some(0xffff_ff80)),
            (Op::Extsb, L, 0x1280, 0, Some(ONES64 << 7)),
            (Op::Extsb, L, 0x7f, 0, Some(0x7f)),
            (Op::Extub, L, 0x1280, 0, Some(0x80)),
            (Op::Extsh, W, 0x8000, 0, Some(0xffff_8000)),
            (Op::Extsh, L, 0x8000, 0, Some(ONES64 << 15)),
            (Op::Extuh, W, 0x5_8000, 0, Some(0x8000)),
            (Op::Extsw, L, MIN32, 0, Some(ONES64 << 31)),
            (Op::Extsw, L, 0xdead_0000_0001, 0, Some(1)),
            (Op::Extuw, L, ONES64, 0, Some(ONES32)),
            (Op::Extsw, W, 1, 0, None),
            (Op::Cast, W, f(1.0) | 1 << 40, 0, Some(0x3f80_0000)),
            (Op::Cast, L, d(1.0), 0, Some(0x3ff0_0000_0000_0000)),
            (Op::Cast, S, 0x7fa0_0001, 0, Some(0x7fa0_0001)),
            (Op::Copy, W, ONES64, 0, Some(ONES32)),
            (Op::Copy, D, 0x7ff0_0000_0000_0001, 0, Some(0x7ff0_0000_0000_0001)),
        ]);
        assert_eq!(eval(Op::Select, W, [1 << 32, 5, ONES64]), Some(ONES32));
        assert_eq!(eval(Op::Select, D, [2, d(5.0), d(6.0)]), Some(d(5.0)));
    }

    #[test]
    fn float_arithmetic_is_bit_exact_and_never_makes_a_nan() {
        check(&[
            (Op::Add, S, f(16_777_216.0), f(1.0), Some(f(16_777_216.0))),
            (Op::Add, D, d(0.1), d(0.2), Some(0x3fd3_3333_3333_3334)),
            (Op::Add, D, d(-0.0), d(0.0), Some(0)),
            (Op::Sub, D, d(0.0), d(0.0), Some(0)),
            (Op::Sub, D, d(f64::INFINITY), d(f64::INFINITY), None),
            (Op::Mul, D, d(f64::INFINITY), 0, None),
            (Op::Mul, D, 1, d(0.5), Some(0)),
            (Op::Mul, D, 3, d(0.5), Some(2)),
            (Op::Mul, S, f(1e30), f(1e30), Some(f(f32::INFINITY))),
            (Op::Div, D, d(1.0), d(-0.0), Some(d(f64::NEG_INFINITY))),
            (Op::Div, D, 0, 0, None),
            (Op::Div, S, f(1.0), f(3.0), Some(0x3eaa_aaab)),
            (Op::Add, D, d(f64::NAN), 0, None),
            (Op::Neg, S, 0, 0, Some(MIN32)),
            (Op::Neg, D, 0x7ff8_0000_0000_0001, 0, Some(0xfff8_0000_0000_0001)),
            (Op::Exts, D, f(0.1), 0, Some(0x3fb9_9999_a000_0000)),
            (Op::Exts, D, f(f32::NAN), 0, None),
            (Op::Truncd, S, d(0.1), 0, Some(0x3dcc_cccd)),
            (Op::Truncd, S, d(1e300), 0, Some(f(f32::INFINITY))),
            (Op::Truncd, S, d(f64::NAN), 0, None),
        ]);
    }

    #[test]
    fn conversions_between_integers_and_floats() {
        let two = |n: i32| d(2f64.powi(n));
        check(&[
            (Op::Dtosi, W, d(-1.9), 0, Some(ONES32)),
            (Op::Dtosi, W, d(2_147_483_647.9), 0, Some(0x7fff_ffff)),
            (Op::Dtosi, W, d(2_147_483_648.0), 0, None),
            (Op::Dtosi, W, d(-2_147_483_648.9), 0, Some(MIN32)),
            (Op::Dtosi, W, d(-2_147_483_649.0), 0, None),
            (Op::Dtosi, L, d(-1e3), 0, Some(-1000i64 as u64)),
            (Op::Dtosi, L, d(-(2f64.powi(63))), 0, Some(MIN64)),
            (Op::Dtosi, L, two(63), 0, None),
            (Op::Dtosi, W, d(f64::NAN), 0, None),
            (Op::Stosi, L, f(-8.75), 0, Some(ONES64 - 7)),
            (Op::Stosi, W, f(2_147_483_648.0), 0, None),
            (Op::Dtoui, W, d(-0.9), 0, Some(0)),
            (Op::Dtoui, W, d(-1.0), 0, None),
            (Op::Dtoui, W, d(4_294_967_295.5), 0, Some(ONES32)),
            (Op::Dtoui, W, two(32), 0, None),
            (Op::Dtoui, L, two(63), 0, Some(MIN64)),
            (Op::Dtoui, L, two(64), 0, None),
            (Op::Dtoui, L, d(f64::INFINITY), 0, None),
            (Op::Stoui, W, f(3e9), 0, Some(3_000_000_000)),
            (Op::Stoui, L, f(1e19), 0, Some(9_999_999_980_506_447_872)),
            (Op::Swtof, S, ONES32, 0, Some(f(-1.0))),
            (Op::Swtof, S, 0x0100_0001, 0, Some(f(16_777_216.0))),
            (Op::Swtof, D, 1 << 40 | MIN32, 0, Some(d(-2_147_483_648.0))),
            (Op::Uwtof, D, ONES64, 0, Some(d(4_294_967_295.0))),
            (Op::Uwtof, S, ONES32, 0, Some(f(4_294_967_296.0))),
            (Op::Sltof, D, MIN64, 0, Some(d(-(2f64.powi(63))))),
            (Op::Sltof, S, 0x0040_0000_4000_0001, 0, Some(0x5a80_0001)),
            (Op::Ultof, D, ONES64, 0, Some(two(64))),
            (Op::Ultof, D, 0x8000_0000_0000_0401, 0, Some(d(2f64.powi(63) + 2048.0))),
            (Op::Ultof, S, MIN64 | 1, 0, Some(f(2f32.powi(63)))),
        ]);
    }

    #[test]
    fn loads_extend_what_they_read() {
        assert_eq!(loaded(Op::Loadsb, W, 0x80), 0xffff_ff80);
        assert_eq!(loaded(Op::Loadsb, L, 0x80), ONES64 << 7);
        assert_eq!(loaded(Op::Loadub, L, 0x80), 0x80);
        assert_eq!(loaded(Op::Loadsh, L, 0xffff), ONES64);
        assert_eq!(loaded(Op::Loaduh, W, 0xffff), 0xffff);
        assert_eq!(loaded(Op::Loadsw, L, MIN32), ONES64 << 31);
        assert_eq!(loaded(Op::Loadsw, W, MIN32), MIN32);
        assert_eq!(loaded(Op::Loaduw, L, MIN32), MIN32);
        assert_eq!(loaded(Op::Loadl, L, ONES64), ONES64);
        assert_eq!(loaded(Op::Loads, S, ONES32), ONES32);
        assert_eq!(loaded(Op::Loadd, D, MIN64), MIN64);
    }
}
