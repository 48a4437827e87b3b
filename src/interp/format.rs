//! `printf`: its templates, as C has them, without `%a`, `%n` and wide characters.

use super::machine::Machine;
use super::{Bits, Stop};
use crate::ir::eval::sign_extend;
use crate::ir::{AbiType, Class};

/// Where the values of a template come from.
pub(super) enum Arguments<'a> {
    /// What is left of a call's arguments.
    Passed(&'a [(AbiType, Bits)]),
    /// The address of a variadic list.
    List(u64),
}

/// Formatted text.
#[derive(Default)]
pub(super) struct Text {
    pub bytes: Vec<u8>,
    /// Positions of bytes that undefined bits decide.
    pub unknown: Vec<usize>,
}

/// A conversion's flags, width and precision.
#[derive(Default)]
struct Directive {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of the integer.
    bits: u32,
}

impl Machine<'_> {
    /// The text a template makes of its arguments.
    pub fn format(&mut self, template: &[u8], mut args: Arguments<'_>) -> Result<Text, Stop> {
        let mut text = Text::default();
        let mut rest = template;
        while let Some((&first, tail)) = rest.split_first() {
            rest = tail;
            if first != b'%' {
                text.bytes.push(first);
                continue;
            }
            let directive = self.directive(&mut rest, &mut args)?;
            let Some((&conversion, tail)) = rest.split_first() else { break };
            rest = tail;
            self.convert(conversion, directive, &mut args, &mut text)?;
        }
        Ok(text)
    }

    fn next_argument(&mut self, args: &mut Arguments<'_>, class: Class) -> Result<u64, Stop> {
        let bits = self.next_bits(args, class)?;
        self.decide(bits, "a printed value")
    }

    fn next_bits(&mut self, args: &mut Arguments<'_>, class: Class) -> Result<Bits, Stop> {
        let bits = match args {
            Arguments::List(list) => self.next_variadic(*list, class)?,
            Arguments::Passed(passed) => match passed.split_first() {
                Some((&(ty, bits), rest)) => {
                    *passed = rest;
                    if ty.class().is_float() == class.is_float() { bits } else { Bits::UNDEFINED }
                }
                None => Bits::UNDEFINED,
            },
        };
        Ok(self.settle(bits.cut(class)))
    }

    /// Reads what stands between `%` and the conversion's letter.
    fn directive(&mut self, rest: &mut &[u8], args: &mut Arguments<'_>) -> Result<Directive, Stop> {
        let mut d = Directive { bits: 32, ..Directive::default() };
        while let Some((&flag, tail)) = rest.split_first() {
            match flag {
                b'-' => d.left = true,
                b'+' => d.plus = true,
                b' ' => d.space = true,
                b'#' => d.alternate = true,
                b'0' => d.zero = true,
                _ => break,
            }
            *rest = tail;
        }
        if let Some(width) = self.count(rest, args)? {
            d.left |= width < 0;
            d.width = width.unsigned_abs() as usize;
        }
        if let Some(tail) = rest.strip_prefix(b".") {
            *rest = tail;
            let precision = self.count(rest, args)?.unwrap_or(0);
            d.precision = usize::try_from(precision).ok();
        }
        while let Some((&letter, tail)) = rest.split_first() {
            d.bits = match (letter, d.bits) {
                (b'h', 16) => 8,
                (b'h', _) => 16,
                (b'l' | b'j' | b'z' | b't' | b'q', _) => 64,
                _ => break,
            };
            *rest = tail;
        }
        Ok(d)
    }

    /// A number or `*`.
    fn count(&mut self, rest: &mut &[u8], args: &mut Arguments<'_>) -> Result<Option<i32>, Stop> {
        if let Some(tail) = rest.strip_prefix(b"*") {
            *rest = tail;
            return Ok(Some(self.next_argument(args, Class::W)? as i32));
        }
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
        *rest = &rest[digits..];
        Ok(number)
    }

    fn convert(
        &mut self,
        conversion: u8,
        d: Directive,
        args: &mut Arguments<'_>,
        out: &mut Text,
    ) -> Result<(), Stop> {
        let int_class = if d.bits == 64 { Class::L } else { Class::W };
        let text = &mut out.bytes;
        match conversion {
            b'%' => text.push(b'%'),
            b'x' if d.shows_all_digits() => {
                // One digit shows four bits, so an undefined bit makes one byte unknown.
                let bits = self.next_bits(args, int_class)?;
                let defined = u64::MAX >> (64 - d.bits);
                let (value, undefined) = (bits.value & defined, bits.undefined & defined);
                d.number(text, false, "", &format!("{value:x}"), true);
                let end = text.len();
                let digits = (0..16).filter(|i| undefined >> (4 * i) & 15 != 0);
                out.unknown.extend(digits.map(|i| end - 1 - i));
            }
            b'd' | b'i' => {
                let value = self.next_argument(args, int_class)?;
                let value = sign_extend(value, d.bits) as i64;
                let digits = d.digits(value.unsigned_abs().to_string());
                d.number(text, value < 0, "", &digits, d.precision.is_none());
            }
            b'u' | b'x' | b'X' | b'o' => {
                let value = self.next_argument(args, int_class)?;
                let value = value & u64::MAX >> (64 - d.bits);
                let (digits, prefix) = match conversion {
                    b'u' => (value.to_string(), ""),
                    b'x' => (format!("{value:x}"), "0x"),
                    b'X' => (format!("{value:X}"), "0X"),
                    _ => (format!("{value:o}"), "0"),
                };
                let prefix = if d.alternate && value != 0 { prefix } else { "" };
                let d = Directive { plus: false, space: false, ..d };
                d.number(text, false, prefix, &d.digits(digits), d.precision.is_none());
            }
            b'c' => {
                let bits = self.next_bits(args, Class::W)?;
                if bits.undefined & 0xff != 0 {
                    let after = if d.left { d.width.saturating_sub(1) } else { 0 };
                    let start = text.len() + d.width.max(1) - 1 - after;
                    out.unknown.push(start);
                }
                d.pad(text, &[bits.value as u8]);
            }
            b's' => {
                let address = self.next_argument(args, Class::L)?;
                let limit = d.precision.map_or(u64::MAX, |n| n as u64);
                let string = self.string_up_to(address, limit)?;
                d.pad(text, &string);
            }
            b'p' => {
                let address = self.next_argument(args, Class::L)?;
                let name = if address == 0 { "(nil)".into() } else { format!("{address:#x}") };
                d.pad(text, name.as_bytes());
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
                let value = f64::from_bits(self.next_argument(args, Class::D)?);
                let mut digits = match conversion.to_ascii_lowercase() {
                    _ if !value.is_finite() => non_finite(value).to_owned(),
                    b'f' => format!("{:.*}", d.precision.unwrap_or(6), value.abs()),
                    b'e' => exponential(value.abs(), d.precision.unwrap_or(6)),
                    _ => general(value.abs(), d.precision.unwrap_or(6), d.alternate),
                };
                if conversion.is_ascii_uppercase() {
                    digits.make_ascii_uppercase();
                }
                d.number(text, value.is_sign_negative(), "", &digits, value.is_finite());
            }
            other => {
                return Err(Stop::Unsupported(format!("printf's %{}", other as char)));
            }
        }
        Ok(())
    }
}

impl Directive {
    /// `%08x`, `%016lx` and the like.
    fn shows_all_digits(&self) -> bool {
        let plain = self.zero && !self.left && !self.alternate && self.precision.is_none();
        plain && self.width * 4 >= self.bits as usize
    }

    /// An integer's digits with the zeros its precision asks for.
    fn digits(&self, digits: String) -> String {
        match self.precision {
            Some(0) if digits == "0" => String::new(),
            Some(precision) => format!("{digits:0>precision$}"),
            None => digits,
        }
    }

    /// Sign, prefix and digits, padded to the width.
    fn number(&self, text: &mut Vec<u8>, minus: bool, prefix: &str, digits: &str, zeros: bool) {
        let sign = match (minus, self.plus, self.space) {
            (true, _, _) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        let head = format!("{sign}{prefix}");
        if self.zero && zeros && !self.left {
            let width = self.width.saturating_sub(head.len());
            text.extend_from_slice(format!("{head}{digits:0>width$}").as_bytes());
        } else {
            self.pad(text, format!("{head}{digits}").as_bytes());
        }
    }

    fn pad(&self, text: &mut Vec<u8>, field: &[u8]) {
        let spaces = self.width.saturating_sub(field.len());
        let before = if self.left { 0 } else { spaces };
        text.resize(text.len() + before, b' ');
        text.extend_from_slice(field);
        text.resize(text.len() + spaces - before, b' ');
    }
}

fn non_finite(value: f64) -> &'static str {
    if value.is_nan() { "nan" } else { "inf" }
}

/// `%e` of a number that is not negative.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').expect("there is an exponent");
    let exponent: i32 = exponent.parse().expect("it is a number");
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// `%g` of a number that is not negative.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let scientific = exponential(value, precision - 1);
    let exponent = scientific.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok());
    let exponent = exponent.expect("there is an exponent");
    let shorten = |text: &str| {
        if keep_zeros || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, tail) = scientific.split_once('e').expect("there is an exponent");
        return format!("{}e{tail}", shorten(mantissa));
    }
    let decimals = (precision as i32 - 1 - exponent) as usize;
    shorten(&format!("{value:.decimals$}"))
}
