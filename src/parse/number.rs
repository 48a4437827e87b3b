//! Floating-point literals: every form that C's `strtod` takes, correctly rounded to single or to
//! double straight from what is written.

use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_while, take_while1};
use nom::character::complete::{digit1, one_of};
use nom::combinator::{opt, recognize};
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

/// A literal, taken apart but not yet rounded.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Literal<'a> {
    negative: bool,
    body: Body<'a>,
}

#[derive(Copy, Clone, PartialEq, Debug)]
enum Body<'a> {
    Decimal(&'a str),
    /// `mantissa * 2^exponent`; `sticky` if digits that are not 0 were left off.
    Hex {
        mantissa: u64,
        sticky: bool,
        exponent: i64,
    },
    Infinity,
    Nan {
        payload: u64,
    },
}

/// The literal at the start of `text` (after blanks) and how many bytes it takes.
pub fn literal(text: &[u8]) -> Option<(Literal<'_>, usize)> {
    let blanks = text.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    let (rest, sign) = opt_sign(&text[blanks..]).ok()?;
    let (rest, body) = alt((hex, infinity, nan, decimal)).parse(rest).ok()?;
    Some((Literal { negative: sign == Some('-'), body }, text.len() - rest.len()))
}

fn opt_sign(text: &[u8]) -> IResult<&[u8], Option<char>> {
    opt(one_of("+-")).parse(text)
}

/// Digits, a point among them, at least one digit: `1`, `1.`, `.1`, `1.1`.
fn pointed<'a>(
    digits: impl Fn(&'a [u8]) -> IResult<&'a [u8], &'a [u8]> + Copy,
) -> impl Parser<&'a [u8], Output = &'a [u8], Error = nom::error::Error<&'a [u8]>> {
    alt((recognize((digits, opt((tag("."), opt(digits))))), recognize((tag("."), digits))))
}

fn decimal_digits(text: &[u8]) -> IResult<&[u8], &[u8]> {
    digit1(text)
}

fn hex_digits(text: &[u8]) -> IResult<&[u8], &[u8]> {
    take_while1(|byte: u8| byte.is_ascii_hexdigit())(text)
}

fn decimal(text: &[u8]) -> IResult<&[u8], Body<'_>> {
    let exponent = (one_of("eE"), opt(one_of("+-")), digit1);
    let (rest, all) = recognize((pointed(decimal_digits), opt(exponent))).parse(text)?;
    let all = std::str::from_utf8(all).expect("digits are ASCII");
    Ok((rest, Body::Decimal(all)))
}

fn hex(text: &[u8]) -> IResult<&[u8], Body<'_>> {
    let (rest, digits) = preceded(tag_no_case("0x"), pointed(hex_digits)).parse(text)?;
    let power = preceded(one_of("pP"), (opt(one_of("+-")), digit1));
    let (rest, power) = opt(power).parse(rest)?;
    let mut exponent = power.map_or(0, |(sign, digits): (Option<char>, &[u8])| {
        let magnitude = digits.iter().fold(0i64, |sum, &digit| {
            // Large enough for any text that fits in memory, and far from overflow.
            (sum * 10 + i64::from(digit - b'0')).min(1 << 55)
        });
        if sign == Some('-') { -magnitude } else { magnitude }
    });
    let (mut mantissa, mut sticky, mut after_point) = (0u64, false, false);
    for &byte in digits {
        let Some(digit) = char::from(byte).to_digit(16) else {
            after_point = true;
            continue;
        };
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            exponent -= if after_point { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            exponent += if after_point { 0 } else { 4 };
        }
    }
    Ok((rest, Body::Hex { mantissa, sticky, exponent }))
}

fn infinity(text: &[u8]) -> IResult<&[u8], Body<'_>> {
    let (rest, _) = alt((tag_no_case("infinity"), tag_no_case("inf"))).parse(text)?;
    Ok((rest, Body::Infinity))
}

fn nan(text: &[u8]) -> IResult<&[u8], Body<'_>> {
    let word = take_while(|byte: u8| byte.is_ascii_alphanumeric() || byte == b'_');
    let tail = opt(delimited(tag("("), word, tag(")")));
    let (rest, word) = preceded(tag_no_case("nan"), tail).parse(text)?;
    Ok((rest, Body::Nan { payload: word.map_or(0, nan_payload) }))
}

/// The number in `nan(number)`, in C's bases; 0 if it is no number.
fn nan_payload(word: &[u8]) -> u64 {
    let Ok(word) = std::str::from_utf8(word) else { return 0 };
    let lower = word.to_ascii_lowercase();
    let parsed = match lower.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None if lower.starts_with('0') && lower.len() > 1 => u64::from_str_radix(&lower, 8),
        None => lower.parse(),
    };
    parsed.unwrap_or(0)
}

/// A format of IEEE 754.
struct Format {
    /// Bits of the fraction.
    fraction: u32,
    exponent: u32,
}

const SINGLE: Format = Format { fraction: 23, exponent: 8 };
const DOUBLE: Format = Format { fraction: 52, exponent: 11 };

impl Literal<'_> {
    /// The bits of the nearest single.
    pub fn single(&self) -> u32 {
        match self.body {
            Body::Decimal(text) => {
                let value: f32 = text.parse().expect("a checked literal");
                value.to_bits() | u32::from(self.negative) << 31
            }
            _ => self.bits(&SINGLE) as u32,
        }
    }

    /// The bits of the nearest double.
    pub fn double(&self) -> u64 {
        match self.body {
            Body::Decimal(text) => {
                let value: f64 = text.parse().expect("a checked literal");
                value.to_bits() | u64::from(self.negative) << 63
            }
            _ => self.bits(&DOUBLE),
        }
    }

    fn bits(&self, format: &Format) -> u64 {
        let infinity = ((1 << format.exponent) - 1) << format.fraction;
        let quiet = 1 << (format.fraction - 1);
        let magnitude = match self.body {
            Body::Infinity => infinity,
            Body::Nan { payload } => infinity | quiet | payload & (quiet - 1),
            Body::Hex { mantissa, sticky, exponent } => {
                round(mantissa, sticky, exponent, format).min(infinity)
            }
            Body::Decimal(_) => unreachable!("decimals are rounded by the standard library"),
        };
        magnitude | u64::from(self.negative) << (format.fraction + format.exponent)
    }
}

/// The bits of `mantissa * 2^exponent`, to nearest, ties to even. May come out beyond infinity.
fn round(mantissa: u64, sticky: bool, exponent: i64, format: &Format) -> u64 {
    if mantissa == 0 {
        return 0;
    }
    let precision = i64::from(format.fraction) + 1;
    let bias = (1i64 << (format.exponent - 1)) - 1;
    let up = mantissa.leading_zeros();
    let mantissa = mantissa << up;
    // The value is 1.xxx * 2^magnitude.
    let magnitude = exponent - i64::from(up) + 63;
    if magnitude > bias {
        return u64::MAX;
    }
    let subnormal_by = (1 - bias - magnitude).max(0);
    let drop = 64 - precision + subnormal_by;
    if drop > 65 {
        return 0;
    }
    let wide = u128::from(mantissa);
    let kept = (wide >> drop) as u64;
    let rest = wide & ((1 << drop) - 1);
    let half = 1u128 << (drop - 1);
    let up = rest > half || rest == half && (sticky || kept & 1 != 0);
    let rounded = kept + u64::from(up);
    if subnormal_by > 0 {
        return rounded;
    }
    // The leading one of `rounded` adds 1 to the exponent field, and a carry one more.
    (((magnitude + bias - 1) as u64) << format.fraction) + rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(text: &str) -> f64 {
        let (literal, used) = literal(text.as_bytes()).expect(text);
        assert_eq!(used, text.len(), "{text}");
        f64::from_bits(literal.double())
    }

    fn single(text: &str) -> f32 {
        f32::from_bits(literal(text.as_bytes()).expect(text).0.single())
    }

    #[test]
    fn decimals() {
        assert_eq!(double("1"), 1.0);
        assert_eq!(double("+1."), 1.0);
        assert_eq!(double("-.5e-1"), -0.05);
        assert_eq!(double(" 1e400"), f64::INFINITY);
        assert_eq!(double("-0").to_bits(), 1 << 63);
        // Rounding to double first would give 1.0.
        assert_eq!(single("1.00000005960464477540").to_bits(), 0x3f80_0001);
        assert_eq!(literal(b"1e+").map(|(_, used)| used), Some(1));
        assert_eq!(literal(b".e1").map(|(_, used)| used), None);
    }

    #[test]
    fn hexadecimals() {
        assert_eq!(double("0x1.8p1"), 3.0);
        assert_eq!(double("-0X.8"), -0.5);
        assert_eq!(double("0x1p-1074"), f64::from_bits(1));
        assert_eq!(double("0x1p-1075"), 0.0);
        assert_eq!(double("0x1.0000000000000000000001p-1075"), f64::from_bits(1));
        assert_eq!(double("0x1.fffffffffffff8p1023"), f64::INFINITY);
        assert_eq!(double("0x1.fffffffffffff7p1023"), f64::MAX);
        assert_eq!(double("0x0.0000000000000000000000001p100"), 1.0);
        assert_eq!(double("0x1p99999999999999999999999"), f64::INFINITY);
        assert_eq!(double("0x1p-99999999999999999999999"), 0.0);
        assert_eq!(single("0x1.000001p0").to_bits(), 0x3f80_0000);
        assert_eq!(single("0x1.000003p0").to_bits(), 0x3f80_0002);
        assert_eq!(literal(b"0xg").map(|(_, used)| used), Some(1));
    }

    #[test]
    fn hexadecimals_round_as_decimals_do() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let exponent = (state % 300) as i64 - 150;
            let mantissa = state >> 4;
            // A 60-bit integer times a power of two, rounded by the hardware's conversions; the
            // power keeps doubles out of the subnormals.
            let text = format!("0x{mantissa:x}p{exponent}");
            let expected = mantissa as f64 * 2f64.powi(exponent as i32);
            assert_eq!(double(&text), expected, "{text}");
        }
    }

    #[test]
    fn specials() {
        assert_eq!(double("inf"), f64::INFINITY);
        assert_eq!(double("-Infinity"), f64::NEG_INFINITY);
        assert_eq!(double("nan").to_bits(), 0x7ff8_0000_0000_0000);
        assert_eq!(double("-nan(0x12)").to_bits(), 0xfff8_0000_0000_0012);
        assert_eq!(single("NaN(5)").to_bits(), 0x7fc0_0005);
    }
}
