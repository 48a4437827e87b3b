//! Division and remainder by constants, without dividing.
//!
//! A power of two takes shifts; another constant takes the upper half of a product with a scaled
//! inverse (Granlund, Montgomery, Division by Invariant Integers using Multiplication, 1994). A
//! `w` multiplies as an `l`, whose product is whole. Runs late, so that other passes see the
//! division.
//!
//! Needs nothing. Changes instructions, no block and no edge.

use super::Env;
use crate::analysis::Facts;
use crate::analysis::bits::{mask, width};
use crate::ir::ops::Cond;
use crate::ir::{Class, Function, Inst, Op, Ref};

/// Replaces divisions by constants in `f`; true if there were any.
pub fn run(f: &mut Function, _facts: &Facts, _env: &Env<'_>) -> bool {
    divide(f)
}

/// Replaces divisions by constants.
pub fn divide(f: &mut Function) -> bool {
    let mut changed = false;
    let mut out = Vec::new();
    for b in f.blocks.indices() {
        if !f.blocks[b].insts.iter().any(is_division) {
            continue;
        }
        let mut insts = std::mem::take(&mut f.blocks[b].insts);
        for inst in insts.drain(..) {
            match divisor(f, &inst) {
                Some(d) => {
                    let start = out.len();
                    let value = Sequence { f, out: &mut out }.division(&inst, d);
                    finish(&mut out, start, inst, value);
                    changed = true;
                }
                None => out.push(inst),
            }
        }
        f.blocks[b].insts = std::mem::replace(&mut out, insts);
    }
    changed
}

fn is_division(inst: &Inst) -> bool {
    matches!(inst.op, Op::Div | Op::Rem | Op::Udiv | Op::Urem) && inst.class.is_int()
}

/// The constant that a division by one divides by, sign-extended if it is a `w`. Not for 0, which
/// traps, nor for a constant dividend.
fn divisor(f: &Function, inst: &Inst) -> Option<u64> {
    if !is_division(inst) || f.bits(inst.args[0]).is_some() {
        return None;
    }
    f.bits_as(inst.args[1], inst.class).filter(|&d| d != 0)
}

/// Gives the result of `inst` to what was emitted from `start` on.
fn finish(out: &mut Vec<Inst>, start: usize, inst: Inst, value: Ref) {
    match out[start..].last_mut() {
        Some(last) if last.to.map(Ref::temp) == Some(value) && last.class == inst.class => {
            last.to = inst.to;
        }
        _ => out.push(Inst { op: Op::Copy, args: [value, Ref::NONE, Ref::NONE], ..inst }),
    }
}

/// The instructions that stand for a division.
struct Sequence<'a> {
    f: &'a mut Function,
    out: &'a mut Vec<Inst>,
}

impl Sequence<'_> {
    fn emit(&mut self, op: Op, class: Class, args: &[Ref]) -> Ref {
        let to = self.f.new_temp(class);
        self.out.push(Inst::new(op, class, to, args));
        to.into()
    }

    fn emit_constant(&mut self, op: Op, class: Class, x: Ref, c: u64) -> Ref {
        let c = self.int(class, c);
        self.emit(op, class, &[x, c])
    }

    /// A shift by a constant; by 0 it is its operand.
    fn shift(&mut self, op: Op, class: Class, x: Ref, count: u32) -> Ref {
        if count == 0 { x } else { self.emit_constant(op, class, x, u64::from(count)) }
    }

    fn int(&mut self, class: Class, value: u64) -> Ref {
        self.f.int(if class == Class::W { i64::from(value as i32) } else { value as i64 })
    }

    fn division(&mut self, inst: &Inst, d: u64) -> Ref {
        let class = inst.class;
        let x = inst.args[0];
        let signed = matches!(inst.op, Op::Div | Op::Rem);
        let remainder = matches!(inst.op, Op::Rem | Op::Urem);
        let magnitude = if signed { (d as i64).unsigned_abs() } else { d & mask(class) };
        let power = magnitude.is_power_of_two().then(|| magnitude.trailing_zeros());
        match (signed, remainder, power) {
            (_, true, Some(0)) => self.int(class, 0),
            (false, false, Some(k)) => self.shift(Op::Shr, class, x, k),
            (false, true, Some(_)) => self.emit_constant(Op::And, class, x, magnitude - 1),
            (true, false, Some(k)) => self.quotient_by_power(class, x, k, (d as i64) < 0),
            (true, true, Some(k)) => {
                // The sign of the divisor does not matter to the remainder.
                let bias = self.bias(class, x, k);
                let sum = self.emit(Op::Add, class, &[x, bias]);
                let low = self.emit_constant(Op::And, class, sum, magnitude - 1);
                self.emit(Op::Sub, class, &[low, bias])
            }
            (_, false, None) => self.quotient(class, x, magnitude, signed, (d as i64) < 0),
            (_, true, None) => {
                let quotient = self.quotient(class, x, magnitude, signed, false);
                let product = self.emit_constant(Op::Mul, class, quotient, magnitude);
                self.emit(Op::Sub, class, &[x, product])
            }
        }
    }

    /// 2^k - 1 if `x` is negative, else 0: what makes a shift round towards 0.
    fn bias(&mut self, class: Class, x: Ref, k: u32) -> Ref {
        let width = width(class);
        let signs = if k == 1 { x } else { self.shift(Op::Sar, class, x, width - 1) };
        self.shift(Op::Shr, class, signs, width - k)
    }

    fn quotient_by_power(&mut self, class: Class, x: Ref, k: u32, negate: bool) -> Ref {
        let mut quotient = x;
        if k > 0 {
            let bias = self.bias(class, x, k);
            let sum = self.emit(Op::Add, class, &[x, bias]);
            quotient = self.shift(Op::Sar, class, sum, k);
        }
        if negate { self.emit(Op::Neg, class, &[quotient]) } else { quotient }
    }

    /// `x / d`, negated if `negate`; `d` is no power of two.
    fn quotient(&mut self, class: Class, x: Ref, d: u64, signed: bool, negate: bool) -> Ref {
        match (signed, class) {
            (true, _) => self.signed_quotient(class, x, d, negate),
            // The quotient is 0 or 1.
            (false, _) if d > mask(class) / 2 => {
                let d = self.int(class, d);
                let op = Op::compare(Cond::Uge, class).expect("an integer relation");
                self.emit(op, class, &[x, d])
            }
            (false, Class::W) => self.unsigned_word_quotient(x, d),
            (false, _) => self.unsigned_quotient(x, d),
        }
    }

    fn signed_quotient(&mut self, class: Class, x: Ref, d: u64, negate: bool) -> Ref {
        let (inverse, shift) = signed_inverse(d, width(class));
        // An inverse with the top bit set is negative as a factor, which takes away x too much.
        let short = inverse > mask(class) / 2;
        let high = if class == Class::W {
            let wide = self.emit(Op::Extsw, Class::L, &[x]);
            let factor = i64::from(inverse as u32 as i32) as u64;
            let product = self.emit_constant(Op::Mul, Class::L, wide, factor);
            self.shift(Op::Sar, Class::L, product, if short { 32 } else { 32 + shift })
        } else {
            self.emit_constant(Op::Smulh, class, x, inverse)
        };
        let mut floor = high;
        if short {
            floor = self.emit(Op::Add, class, &[high, x]);
        }
        if short || class == Class::L {
            floor = self.shift(Op::Sar, class, floor, shift);
        }
        // The quotient is rounded down; one more where x is negative.
        let signs = self.shift(Op::Sar, class, x, width(class) - 1);
        let difference = if negate { [signs, floor] } else { [floor, signs] };
        self.emit(Op::Sub, class, &difference)
    }

    fn unsigned_word_quotient(&mut self, x: Ref, d: u64) -> Ref {
        let wide = self.emit(Op::Extuw, Class::L, &[x]);
        // An l whose upper half is 0; its low half is the result.
        match unsigned_inverse(d, 32, 32) {
            Some((inverse, shift)) => {
                let product = self.emit_constant(Op::Mul, Class::L, wide, inverse);
                self.shift(Op::Shr, Class::L, product, 32 + shift)
            }
            None => {
                // 33 bits of inverse: scaled so that the quotient is the upper half of 128 bits.
                let (inverse, shift) = long_inverse(d, 32);
                let scaled = (inverse | 1 << 32) << (32 - shift);
                self.emit_constant(Op::Umulh, Class::L, wide, scaled)
            }
        }
    }

    fn unsigned_quotient(&mut self, x: Ref, d: u64) -> Ref {
        let class = Class::L;
        if let Some((inverse, shift)) = unsigned_inverse(d, 64, 64) {
            let high = self.emit_constant(Op::Umulh, class, x, inverse);
            return self.shift(Op::Shr, class, high, shift);
        }
        let even = d.trailing_zeros();
        if even > 0
            && let Some((inverse, shift)) = unsigned_inverse(d >> even, 64, 64 - even)
        {
            let x = self.shift(Op::Shr, class, x, even);
            let high = self.emit_constant(Op::Umulh, class, x, inverse);
            return self.shift(Op::Shr, class, high, shift);
        }
        // The inverse is 2^64 + its low half: (x + high) >> shift without losing the carry.
        let (inverse, shift) = long_inverse(d, 64);
        let high = self.emit_constant(Op::Umulh, class, x, inverse);
        let rest = self.emit(Op::Sub, class, &[x, high]);
        let half = self.shift(Op::Shr, class, rest, 1);
        let sum = self.emit(Op::Add, class, &[half, high]);
        self.shift(Op::Shr, class, sum, shift - 1)
    }
}

/// `m` and `s` with `x / d`, rounded down, equal to `x * m >> (width + s)` for every signed x of
/// `width` bits that is not negative, and one less for the negative ones.
fn signed_inverse(d: u64, width: u32) -> (u64, u32) {
    // m * d is 2^p + e; the error of the product stays below 1/d while e <= 2^(p - width + 1).
    inverses(d, width).find(|&(_, e, s)| e <= 2 << s).map(|(m, _, s)| (m, s)).expect("some p does")
}

/// `m` and `s` with `x / d` equal to `x * m >> (width + s)` for every unsigned x of `bits` bits, if
/// there is an `m` of `width` bits.
fn unsigned_inverse(d: u64, width: u32, bits: u32) -> Option<(u64, u32)> {
    inverses(d, width).find(|&(_, e, s)| e <= 1 << (s + width - bits)).map(|(m, _, s)| (m, s))
}

/// For s = 0, 1, ... the least `m` with `m * d > 2^(width + s)`, and by how much, while it has
/// `width` bits.
fn inverses(d: u64, width: u32) -> impl Iterator<Item = (u64, u128, u32)> {
    let d = u128::from(d);
    (0..width).map_while(move |s| {
        let power = 1u128 << (width + s);
        let m = power / d + 1;
        (m >> width == 0).then(|| (m as u64, d - power % d, s))
    })
}

/// The low `width` bits of an inverse of `width + 1` bits, which every `d` has, and its shift.
fn long_inverse(d: u64, width: u32) -> (u64, u32) {
    let shift = 64 - (d - 1).leading_zeros();
    let low = (((1u128 << shift) - u128::from(d)) << width) / u128::from(d) + 1;
    (low as u64, shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexVec;
    use crate::ir::eval::eval;
    use crate::ir::{AbiType, Block, Jump, Module, Param, TempId};

    /// The value of a division after the pass.
    fn run_divided(f: &Function, x: u64) -> u64 {
        let mut values: IndexVec<TempId, u64> = IndexVec::filled(0, f.temps.len());
        values[f.params[0].to] = x;
        let block = &f.blocks[f.entry()];
        let read = |values: &IndexVec<TempId, u64>, r: Ref| {
            r.as_temp().map_or_else(|| f.bits(r).unwrap(), |t| values[t])
        };
        for inst in &block.insts {
            assert!(!inst.op.traps(), "no division is left");
            let mut args = [0; 3];
            for (value, &r) in args.iter_mut().zip(inst.operands()) {
                *value = read(&values, r);
            }
            values[inst.to.unwrap()] = eval(inst.op, inst.class, args).unwrap();
        }
        read(&values, block.jump.arg())
    }

    fn function(op: Op, class: Class, d: u64) -> Function {
        let mut module = Module::default();
        let mut f = Function::new(module.symbols.intern(b"f"));
        f.ret = Some(AbiType::Base(class));
        let x = f.new_temp(class);
        f.params.push(Param { ty: AbiType::Base(class), to: x });
        let to = f.new_temp(class);
        let d = f.int(if class == Class::W { i64::from(d as i32) } else { d as i64 });
        let mut block = Block::new(Jump::Ret(to.into()));
        block.insts.push(Inst::new(op, class, to, &[x.into(), d]));
        f.blocks.push(block);
        f
    }

    fn interesting(class: Class) -> Vec<u64> {
        let mut values: Vec<u64> = (0..40).collect();
        values.extend([100, 125, 625, 641, 1000, 3600, 65521, 1_000_000_007, 6_700_417]);
        for k in 4..64 {
            values.extend([(1 << k) - 1, 1 << k, (1 << k) + 1, 3 << (k - 2), 5 << (k - 3)]);
        }
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..60 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            values.push(state >> (state % 60));
        }
        let negative: Vec<u64> = values.iter().map(|v| v.wrapping_neg()).collect();
        values.extend(negative);
        values.iter_mut().for_each(|v| *v &= mask(class));
        values.sort_unstable();
        values.dedup();
        values
    }

    #[test]
    fn quotients_and_remainders_are_right() {
        for class in [Class::W, Class::L] {
            let values = interesting(class);
            for op in [Op::Div, Op::Rem, Op::Udiv, Op::Urem] {
                for &d in values.iter().filter(|&&d| d != 0) {
                    let mut f = function(op, class, d);
                    assert!(divide(&mut f));
                    // Multiples of the divisor and their neighbours, besides the limits.
                    let near = (0..30u64).flat_map(|k| {
                        let m = d.wrapping_mul(mask(class) / d.max(1) / (k + 1));
                        [m, m.wrapping_sub(1), m.wrapping_add(1), m.wrapping_neg()]
                    });
                    for x in values.iter().copied().chain(near.map(|x| x & mask(class))) {
                        let Some(wanted) = eval(op, class, [x, d, 0]) else { continue };
                        let got = run_divided(&f, x) & mask(class);
                        assert_eq!(got, wanted, "{} {} {x:#x} {d:#x}", op.name(), class.letter());
                    }
                }
            }
        }
    }
}
