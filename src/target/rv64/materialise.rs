//! Constants in integer registers: the shortest sequence of `lui`, `addi`, `addiw`, `slli` and
//! `srli` that makes one in a single register.

use super::insts::{self, BSETI};
use crate::target::machine::MOp;
use smallvec::{SmallVec, smallvec};

/// An instruction on the register under construction. The first one (`LI12`, `LUI`, or `BSETI` of
/// zero) does not read it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub op: MOp,
    pub imm: i64,
}

pub type Steps = SmallVec<[Step; 8]>;

/// Sequences longer than this are worse than a load from read-only data (`auipc` and `ld`).
pub const LIMIT: usize = 3;

/// The value fits the immediate of most instructions.
pub fn fits12(value: i64) -> bool {
    (-2048..2048).contains(&value)
}

/// The low 12 bits, sign-extended.
pub fn low12(value: i64) -> i64 {
    value << 52 >> 52
}

/// What a `lui` has to hold so that adding [`low12`] gives the value, which fits 32 bits. Its
/// result wraps to the negative end just below 2^31: there `addiw` must follow.
pub fn high20(value: i64) -> i64 {
    (value.wrapping_add(0x800) >> 12) & 0xf_ffff
}

/// The sequence for `value`. `single_bits`: there is `bseti` (Zbs).
pub fn steps(value: i64, single_bits: bool) -> Steps {
    let mut best = direct(value);
    let mut consider = |base: i64, last: Step| {
        let mut other = direct(base);
        if other.len() + 1 < best.len() {
            other.push(last);
            best = other;
        }
    };
    if value == 0 {
        return best;
    }
    let zeros = value.trailing_zeros();
    if zeros > 0 {
        consider(value >> zeros, Step { op: insts::SLLI, imm: i64::from(zeros) });
    }
    let zeros = value.leading_zeros();
    if zeros > 0 {
        // The bits shifted out below are free: ones make a small negative number of a mask.
        let ones = (1i64 << zeros).wrapping_sub(1);
        let last = Step { op: insts::SRLI, imm: i64::from(zeros) };
        consider(value << zeros | ones, last);
        consider(value << zeros, last);
    }
    if single_bits && best.len() > 1 && value.count_ones() == 1 {
        best = smallvec![Step { op: BSETI, imm: i64::from(value.trailing_zeros()) }];
    }
    best
}

/// The upper part first, then shifts and additions of 12 bits.
fn direct(value: i64) -> Steps {
    let mut rest = value;
    // What follows the first instructions, last first.
    let mut tail: SmallVec<[Step; 8]> = SmallVec::new();
    let mut push = |op, imm| tail.push(Step { op, imm });
    while i32::try_from(rest).is_err() {
        let low = low12(rest);
        if low != 0 {
            push(insts::ADDI, low);
        }
        let high = rest.wrapping_sub(low);
        let mut shift = high.trailing_zeros();
        rest = high >> shift;
        // A lui makes numbers that end in 12 zeros.
        if shift > 12 && !fits12(rest) && i32::try_from(rest << 12).is_ok() {
            shift -= 12;
            rest <<= 12;
        }
        push(insts::SLLI, i64::from(shift));
    }
    let mut all = Steps::new();
    let (high, low) = (high20(rest), low12(rest));
    if high != 0 {
        all.push(Step { op: insts::LUI, imm: high });
        if low != 0 {
            all.push(Step { op: insts::ADDIW, imm: low });
        }
    } else {
        all.push(Step { op: insts::LI12, imm: low });
    }
    all.extend(tail.into_iter().rev());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the sequence leaves in the register.
    fn run(steps: &[Step]) -> i64 {
        let mut x: i64 = 0x1234_5678_9abc_def0;
        for (n, step) in steps.iter().enumerate() {
            let imm = step.imm;
            x = match step.op {
                insts::LI12 if n == 0 => imm,
                insts::LUI if n == 0 => i64::from((imm << 12) as i32),
                BSETI if n == 0 => 1i64 << imm,
                insts::ADDI => x.wrapping_add(imm),
                insts::ADDIW => i64::from(x.wrapping_add(imm) as i32),
                insts::SLLI => x << imm,
                insts::SRLI => (x as u64 >> imm) as i64,
                _ => panic!("{step:?} at {n}"),
            };
            let legal = match step.op {
                insts::LUI => (0..1 << 20).contains(&imm),
                insts::SLLI | insts::SRLI | BSETI => (0..64).contains(&imm),
                _ => fits12(imm),
            };
            assert!(legal, "{step:?}");
        }
        x
    }

    fn check(value: i64) {
        for bits in [false, true] {
            let steps = steps(value, bits);
            assert_eq!(run(&steps), value, "{value:#x} {steps:?}");
            assert!(steps.len() <= 8, "{value:#x} {steps:?}");
        }
    }

    #[test]
    fn sequences_compute_their_constants() {
        for n in 0..64 {
            for delta in -2050i64..2050 {
                check((1i64 << n).wrapping_add(delta));
                check((-1i64 << n).wrapping_add(delta));
            }
        }
        let mut x: u64 = 88_172_645_463_325_252;
        for n in 0..1_000_000u32 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            // Of all lengths, at all places.
            let shift = n % 64;
            check((x >> shift) as i64);
            check((x >> shift << (n / 64 % 64)) as i64);
        }
    }

    #[test]
    fn sequences_are_short() {
        let rows = [
            (0, 1),
            (-2048, 1),
            (2047, 1),
            (2048, 2),
            (0x7fff_f000, 1),
            (0x7fff_ffff, 2),
            (-0x8000_0000, 1),
            (0x8000_0000, 2),
            (0xffff_ffff, 2),
            (0xffff, 2),
            (0x1_0000, 1),
            (0xff00_ff00, 3),
            (i64::MAX, 2),
            (i64::MIN, 2),
            (0x5555_5555, 2),
            (1 << 40, 2),
            ((1 << 40) - 1, 2),
            (0x3ff0_0000_0000_0000, 2),
        ];
        for (value, length) in rows {
            assert_eq!(steps(value, false).len(), length, "{value:#x} {:?}", steps(value, false));
        }
        assert_eq!(steps(1 << 40, true).len(), 1);
    }
}
