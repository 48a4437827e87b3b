//! Which constants fit into which instructions (Arm ARM C3.4, C3.5), and how the others are made.

use smallvec::{SmallVec, smallvec};

/// An immediate of `add`, `sub` and comparisons: 12 bits, shifted left by 12 or not.
pub fn is_arithmetic(value: u64) -> bool {
    value < 1 << 12 || value < 1 << 24 && value & 0xfff == 0
}

/// An immediate of `and`, `orr`, `eor` and `tst`: the same 2, 4, ..., 64 bits over and over, in
/// which the ones are in one piece, if the two ends are thought to meet. Neither all zeros nor all
/// ones.
pub fn is_logical(value: u64, size: u8) -> bool {
    let value = if size == 8 { value } else { repeated(value & 0xffff_ffff, 32) };
    if value == 0 || value == u64::MAX {
        return false;
    }
    let period = (1..6).map(|n| 1 << n).find(|&n| value.rotate_right(n) == value).unwrap_or(64);
    // Ones are in one piece if there is one place where they begin, and one where they end.
    let edges = (value ^ value.rotate_right(1)).count_ones();
    edges == 2 * (64 / period)
}

/// The low `bits` bits of `value` in all the places of 64 bits.
fn repeated(value: u64, bits: u32) -> u64 {
    (0..64 / bits).fold(0, |all, n| all | value << (n * bits))
}

/// An instruction that makes, or goes on making, a constant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// 16 bits at a multiple of 16, zeros elsewhere.
    Movz { bits: u16, shift: u8 },
    /// The complement of that.
    Movn { bits: u16, shift: u8 },
    /// A logical immediate.
    Orr(u64),
    /// 16 bits at a multiple of 16; the others stay.
    Movk { bits: u16, shift: u8 },
}

/// Instructions for a constant, and the size in bytes of the operation: 4 also for a long constant
/// with nothing in its upper half.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parts {
    pub size: u8,
    pub parts: SmallVec<[Part; 4]>,
}

/// The shortest way to make a constant of `size` bytes, of those that are looked at: wide moves,
/// one logical immediate, or that with one halfword put in.
pub fn parts(value: u64, size: u8) -> Parts {
    let low = value & 0xffff_ffff;
    if size < 8 || value == low {
        return Parts { size: 4, parts: shortest(low, 4) };
    }
    Parts { size: 8, parts: shortest(value, 8) }
}

fn shortest(value: u64, size: u8) -> SmallVec<[Part; 4]> {
    let halves = size / 2;
    let half = |n: u8| (value >> (16 * n)) as u16;
    let differ = |rest: u16| (0..halves).filter(|&n| half(n) != rest).count();
    let (zeros, ones) = (differ(0), differ(0xffff));
    let wide = zeros.min(ones);
    if wide > 1 && is_logical(value, size) {
        return smallvec![Part::Orr(value)];
    }
    if wide > 2
        && let Some(parts) = patched(value, size)
    {
        return parts;
    }
    let rest = if ones < zeros { 0xffff } else { 0 };
    let mut parts = SmallVec::new();
    for n in (0..halves).filter(|&n| half(n) != rest) {
        let (bits, shift) = (half(n), 16 * n);
        parts.push(match (parts.is_empty(), rest) {
            (true, 0) => Part::Movz { bits, shift },
            (true, _) => Part::Movn { bits: !bits, shift },
            (false, _) => Part::Movk { bits, shift },
        });
    }
    if parts.is_empty() {
        parts.push(if rest == 0 {
            Part::Movz { bits: 0, shift: 0 }
        } else {
            Part::Movn { bits: 0, shift: 0 }
        });
    }
    parts
}

/// A logical immediate that is right but for one halfword, and that halfword.
fn patched(value: u64, size: u8) -> Option<SmallVec<[Part; 4]>> {
    let halves = size / 2;
    for n in 0..halves {
        let shift = 16 * n;
        let bits = (value >> shift) as u16;
        let without = value & !(0xffff << shift);
        let others = (0..halves).map(|m| value >> (16 * m) & 0xffff).chain([0, 0xffff]);
        for other in others {
            let base = without | other << shift;
            if base != value && is_logical(base, size) {
                return Some(smallvec![Part::Orr(base), Part::Movk { bits, shift }]);
            }
        }
    }
    None
}

/// The eight bits by which `fmov` names a float of `size` bytes: a sign, 1 + n/16, and an exponent
/// of -3 to 4 (Arm ARM C2.2.3).
pub fn float8(bits: u64, size: u8) -> Option<u8> {
    let double = if size == 8 { bits } else { f64::from(f32::from_bits(bits as u32)).to_bits() };
    let sign = double >> 63;
    let exponent = (double >> 52 & 0x7ff) as i64 - 1023;
    let fraction = double & ((1 << 52) - 1);
    let fits = (-3..=4).contains(&exponent) && fraction & ((1 << 48) - 1) == 0;
    fits.then(|| (sign << 7 | ((exponent + 3) as u64 ^ 4) << 4 | fraction >> 48) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// All values of logical immediates of a size, by their definition (DecodeBitMasks).
    fn all_logical(size: u8) -> HashSet<u64> {
        let mut all = HashSet::new();
        for period in [2u32, 4, 8, 16, 32, 64] {
            if period > 8 * u32::from(size) {
                continue;
            }
            for ones in 1..period {
                for turn in 0..period {
                    let run = (1u128 << ones) - 1;
                    let mask = (1u128 << period) - 1;
                    let turned = (run >> turn | run << (period - turn)) & mask;
                    let value = repeated(turned as u64, period);
                    all.insert(if size == 8 { value } else { value & 0xffff_ffff });
                }
            }
        }
        all
    }

    #[test]
    fn logical_immediates_are_those_of_the_manual() {
        for (size, count) in [(4u8, 1302), (8, 5334)] {
            let all = all_logical(size);
            assert_eq!(all.len(), count);
            let mask = if size == 8 { u64::MAX } else { 0xffff_ffff };
            let mut others = 0;
            for &value in &all {
                assert!(is_logical(value, size), "{value:#x}");
                // Every neighbour by one bit is one or none.
                for bit in 0..8 * u32::from(size) {
                    let near = value ^ 1 << bit;
                    assert_eq!(is_logical(near & mask, size), all.contains(&near), "{near:#x}");
                    others += u32::from(!all.contains(&near));
                }
            }
            assert!(others > 1000);
            for value in (0..1 << 17).flat_map(|n| [n, n << 15, !n]) {
                let value = value & mask;
                assert_eq!(is_logical(value, size), all.contains(&value), "{value:#x}");
            }
        }
    }

    fn value_of(all: &Parts) -> u64 {
        let mut value = 0u64;
        for part in &all.parts {
            value = match *part {
                Part::Movz { bits, shift } => u64::from(bits) << shift,
                Part::Movn { bits, shift } => !(u64::from(bits) << shift),
                Part::Orr(bits) => {
                    assert!(is_logical(bits, all.size));
                    bits
                }
                Part::Movk { bits, shift } => value & !(0xffff << shift) | u64::from(bits) << shift,
            };
            if all.size == 4 {
                value &= 0xffff_ffff;
            }
        }
        value
    }

    #[test]
    fn constants_are_made_right_and_short() {
        let halves = [0u64, 1, 0x1234, 0x5555, 0x7fff, 0x8000, 0xff00, 0xfffe, 0xffff];
        for a in halves {
            for b in halves {
                let pair = a << 16 | b;
                assert_eq!(value_of(&parts(pair, 4)), pair);
                for c in halves {
                    for d in halves {
                        let value = pair << 32 | c << 16 | d;
                        assert_eq!(value_of(&parts(value, 8)), value, "{value:#x}");
                    }
                }
            }
        }
        let count = |value, size| parts(value, size).parts.len();
        let one = [0, 1, 0xffff, 0xffff_0000, 0xffff_fffe, u64::MAX, 0x5555_5555_5555_5555];
        one.iter().for_each(|&v| assert_eq!(count(v, 8), 1, "{v:#x}"));
        let two = [0x1_0003, 0x5555_1234_5555_5555, 0xffff_1234_ffff_5678, 0x1234_5678];
        two.iter().for_each(|&v| assert_eq!(count(v, 8), 2, "{v:#x}"));
        assert_eq!(count(0x1234_5678_9abc_def0, 8), 4);
        assert_eq!(count(0xffff_fff0, 4), 1);
    }

    #[test]
    fn arithmetic_immediates() {
        for value in [0, 1, 0xfff, 0x1000, 0xfff000] {
            assert!(is_arithmetic(value));
        }
        for value in [0x1001, 0xfff001, 0x1000000, u64::MAX] {
            assert!(!is_arithmetic(value));
        }
    }

    #[test]
    fn float_immediates() {
        // VFPExpandImm: imm8 is aBbcdefgh.
        for imm in 0..=255u8 {
            let (sign, b) = (u64::from(imm >> 7), u64::from(imm >> 6 & 1));
            let exponent = (b ^ 1) << 10 | (b * 0xff) << 2 | u64::from(imm >> 4 & 3);
            let bits = sign << 63 | exponent << 52 | u64::from(imm & 15) << 48;
            assert_eq!(float8(bits, 8), Some(imm), "{}", f64::from_bits(bits));
            let single = (f64::from_bits(bits) as f32).to_bits();
            assert_eq!(float8(u64::from(single), 4), Some(imm));
            assert_eq!(float8(bits | 1, 8), None);
            assert_eq!(float8(u64::from(single | 1), 4), None);
        }
        for value in [0.0f64, -0.0, 32.0, 0.1, f64::INFINITY, f64::NAN, 0.0625] {
            assert_eq!(float8(value.to_bits(), 8), None);
        }
    }
}
