//! Random signatures: types with values that both sides of a call know.

use super::numbers::Random;
use super::types::Aggregate;

/// The type of an argument or result.
#[derive(Clone)]
pub enum Type {
    Base(Base),
    Aggregate(Aggregate),
}

/// The letters of IL. Behind `...` a C caller passes `sb ub sh uh` and `s` as such, and C makes
/// them `w` and `d`.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Base {
    W,
    L,
    S,
    D,
    Sb,
    Ub,
    Sh,
    Uh,
}

use Base::{D, L, S, Sb, Sh, Ub, Uh, W};

impl Base {
    pub fn size(self) -> u64 {
        [4, 8, 4, 8, 1, 1, 2, 2][self as usize]
    }

    pub fn letter(self) -> &'static str {
        ["w", "l", "s", "d", "sb", "ub", "sh", "uh"][self as usize]
    }

    /// Two names, for variety.
    pub fn c(self, style: u64) -> &'static str {
        let names = ["int", "long long", "float", "double"];
        let narrow = ["signed char", "unsigned char", "short", "unsigned short"];
        match (self, style & 1) {
            (W, 1) => "unsigned",
            (L, 1) => "void *",
            _ => names.iter().chain(&narrow).nth(self as usize).expect("eight names"),
        }
    }

    pub fn is_narrow(self) -> bool {
        self as usize >= Sb as usize
    }
}

/// A type, and where in the table of bytes its value stands.
#[derive(Clone)]
pub struct Value {
    pub ty: Type,
    pub at: u64,
    /// Bits that decide how the value is made and looked at.
    pub style: u64,
}

/// Bytes in the table of values, which the support code fills as [`byte`] says.
pub const TABLE: u64 = 1 << 16;

/// The byte at an offset of the table. support.c says the same in C.
pub fn byte(at: u64) -> u8 {
    let mut x = (at as u32).wrapping_mul(0x9e37_79b1);
    x ^= x >> 15;
    (x.wrapping_mul(0x85eb_ca77) >> 24) as u8
}

/// Up to eight bytes of the table as a number.
pub fn bits(at: u64, bytes: u64) -> u64 {
    (0..bytes).rev().fold(0, |bits, n| bits << 8 | u64::from(byte(at + n)))
}

impl Value {
    pub fn size(&self) -> u64 {
        match &self.ty {
            Type::Base(base) => base.size(),
            Type::Aggregate(aggregate) => aggregate.size(),
        }
    }

    /// A narrow value, extended to 32 bits.
    pub fn extended(&self) -> i64 {
        let bits = bits(self.at, 2);
        match self.ty {
            Type::Base(Sb) => i64::from(bits as i8),
            Type::Base(Ub) => i64::from(bits as u8),
            Type::Base(Sh) => i64::from(bits as i16),
            _ => i64::from(bits as u16),
        }
    }

    /// The bits of a `s` as a `d`.
    pub fn widened(&self) -> u64 {
        f64::from(f32::from_bits(bits(self.at, 4) as u32)).to_bits()
    }
}

/// A function's type, and the values of one call of it.
#[derive(Clone)]
pub struct Signature {
    pub ret: Option<Value>,
    pub args: Vec<Value>,
    /// How many of `args` stand before the `...`, if there is one.
    pub variadic: Option<usize>,
    /// Values that the IL keeps across its call.
    pub live: Vec<Value>,
    pub style: u64,
}

/// What a target or a compiler cannot do.
#[derive(Copy, Clone)]
pub struct Limits {
    /// There are aggregates without bytes.
    pub empty: bool,
    /// Whether this 16-aligned aggregate may be passed behind the dots.
    pub wide_in_lists: fn(&Aggregate) -> bool,
    /// Narrow arguments may be named ones of variadic functions.
    pub narrow_before_dots: bool,
}

/// Hands out places in the table.
struct Places(u64);

impl Places {
    fn next(&mut self, size: u64) -> u64 {
        let room = size.next_multiple_of(16) + 16;
        if self.0 + room > TABLE {
            self.0 = 0;
        }
        self.0 += room;
        self.0 - room
    }
}

/// The signature of a seed.
pub fn signature(seed: u64, limits: Limits) -> Signature {
    let mut random = Random::new(seed);
    let random = &mut random;
    let mut places = Places(random.below(TABLE as usize / 16) as u64 * 16);
    let count = match random.below(10) {
        0..6 => random.below(7),
        6..9 => random.below(14),
        _ => random.below(36),
    };
    // What a signature prefers, so that one kind of register runs out before the other.
    let favourite = random.pick(&[None, None, Some(W), Some(L), Some(S), Some(D)]);
    let aggregates = random.pick(&[5, 30, 30, 80]);
    let mut value = |random: &mut Random, named: bool| {
        let empty = limits.empty && named;
        let ty = match random.below(100) {
            n if n < aggregates => {
                let most = if random.chance(4) { 300 } else { random.pick(&[16, 16, 32, 64]) };
                let mut aggregate = Aggregate::random(random, most, empty);
                aggregate.wide &= named || (limits.wide_in_lists)(&aggregate);
                Type::Aggregate(aggregate)
            }
            n if n % 4 == 0 => Type::Base(random.pick(&[Sb, Ub, Sh, Uh])),
            n if n % 4 == 1 => Type::Base(favourite.unwrap_or(W)),
            _ => Type::Base(random.pick(&[W, L, S, D])),
        };
        let mut value = Value { ty, at: 0, style: random.bits() >> 8 };
        value.at = places.next(value.size());
        // C makes a `d` of a variadic `s`, which might change a NaN.
        while !named
            && matches!(value.ty, Type::Base(S))
            && f64::from_bits(value.widened()).is_nan()
        {
            value.at = places.next(4);
        }
        value
    };
    let ret = random.chance(85).then(|| value(random, true));
    let mut args: Vec<Value> = (0..count).map(|_| value(random, true)).collect();
    // C wants a named parameter before the dots.
    let variadic = (!args.is_empty() && random.chance(25)).then_some(args.len());
    if variadic.is_some() {
        for arg in args.iter_mut().filter(|_| !limits.narrow_before_dots) {
            if matches!(arg.ty, Type::Base(base) if base.is_narrow()) {
                arg.ty = Type::Base(W);
            }
        }
        let count = if random.chance(80) { random.below(8) } else { random.below(25) };
        args.extend((0..count).map(|_| value(random, false)));
    }
    let live = if random.chance(20) { random.below(30) } else { random.below(5) };
    let live = (0..live).map(|_| {
        loop {
            let value = value(random, true);
            if matches!(value.ty, Type::Base(W | L | S | D)) {
                break value;
            }
        }
    });
    let live = live.collect();
    Signature { ret, args, variadic, live, style: random.bits() >> 8 }
}

impl Signature {
    pub fn named(&self) -> usize {
        self.variadic.unwrap_or(self.args.len())
    }

    /// The same without some arguments. A named parameter has to stay in front of the dots.
    pub fn without(&self, dropped: std::ops::Range<usize>) -> Option<Signature> {
        let mut less = self.clone();
        if let Some(named) = self.variadic {
            let kept = (0..named).filter(|n| !dropped.contains(n)).count();
            if kept == 0 {
                return None;
            }
            less.variadic = Some(kept);
        }
        less.args.drain(dropped);
        Some(less)
    }
}
