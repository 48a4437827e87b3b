//! Random types, what they look like in IL and in C, and which of their bytes are values.

use super::numbers::Random;
use std::fmt::Write;

/// What a member of an aggregate can be.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Scalar {
    B,
    H,
    W,
    L,
    S,
    D,
}

use Scalar::{B, D, H, L, S, W};

impl Scalar {
    const ALL: [Scalar; 6] = [B, H, W, L, S, D];

    pub fn size(self) -> u64 {
        [1, 2, 4, 8, 4, 8][self as usize]
    }

    pub fn letter(self) -> &'static str {
        ["b", "h", "w", "l", "s", "d"][self as usize]
    }

    fn c(self) -> &'static str {
        ["signed char", "short", "int", "long long", "float", "double"][self as usize]
    }
}

#[derive(Clone)]
pub enum Element {
    Scalar(Scalar),
    Nested(Box<Aggregate>),
}

/// A member, and how many of it stand in a row.
#[derive(Clone)]
pub struct Member {
    pub element: Element,
    pub count: u64,
}

/// A struct, or a union of structs.
#[derive(Clone)]
pub struct Aggregate {
    pub union: bool,
    /// Aligned to 16.
    pub wide: bool,
    /// One if it is a struct.
    pub variants: Vec<Vec<Member>>,
    /// The variant that holds a value.
    pub active: usize,
}

impl Element {
    fn size(&self) -> u64 {
        match self {
            Element::Scalar(scalar) => scalar.size(),
            Element::Nested(aggregate) => aggregate.size(),
        }
    }

    fn align(&self) -> u64 {
        match self {
            Element::Scalar(scalar) => scalar.size(),
            Element::Nested(aggregate) => aggregate.align(),
        }
    }
}

/// Calls `visit` with each member and its offset; returns where the last one ends.
fn place(members: &[Member], mut visit: impl FnMut(&Member, u64)) -> u64 {
    let mut end = 0u64;
    for member in members {
        end = end.next_multiple_of(member.element.align());
        visit(member, end);
        end += member.element.size() * member.count;
    }
    end
}

impl Aggregate {
    pub fn align(&self) -> u64 {
        let least = if self.wide { 16 } else { 1 };
        self.variants.iter().flatten().map(|m| m.element.align()).fold(least, u64::max)
    }

    pub fn size(&self) -> u64 {
        let end = self.variants.iter().map(|v| place(v, |_, _| {})).max().unwrap_or(0);
        end.next_multiple_of(self.align())
    }

    /// The bytes that hold values: offsets and lengths, merged, in order.
    pub fn values(&self) -> Vec<(u64, u64)> {
        let mut scalars = Vec::new();
        self.scalars(self.active, 0, &mut scalars);
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (at, scalar) in scalars {
            match ranges.last_mut() {
                Some((start, length)) if *start + *length == at => *length += scalar.size(),
                _ => ranges.push((at, scalar.size())),
            }
        }
        ranges
    }

    /// Appends all that one variant holds, nested unions by their active one, in order.
    fn scalars(&self, variant: usize, base: u64, out: &mut Vec<(u64, Scalar)>) {
        place(&self.variants[variant], |member, offset| {
            let size = member.element.size();
            for n in 0..member.count {
                let start = base + offset + n * size;
                match &member.element {
                    Element::Scalar(scalar) => out.push((start, *scalar)),
                    Element::Nested(nested) => nested.scalars(nested.active, start, out),
                }
            }
        });
    }

    /// Whether all it holds is floats.
    pub fn is_floats(&self) -> bool {
        self.variants.iter().flatten().all(|member| match &member.element {
            Element::Scalar(scalar) => matches!(scalar, S | D),
            Element::Nested(nested) => nested.is_floats(),
        })
    }

    /// Clang 14 for amd64 loses half of an eightbyte of a union if one variant has a single there
    /// and then padding, while another has values in its place.
    fn clang_loses_half(&self) -> bool {
        (0..self.variants.len()).any(|v| {
            let mut scalars = Vec::new();
            self.scalars(v, 0, &mut scalars);
            // Where the padding at the end ends.
            let align = self.variants[v].iter().map(|m| m.element.align()).max().unwrap_or(1);
            let end = place(&self.variants[v], |_, _| {}).next_multiple_of(align);
            scalars.push((end, B));
            scalars.windows(2).any(|w| w[0].1 == S && w[1].0 > w[0].0 + 4)
        })
    }

    /// Appends the definition of `:name` and of all it is made of.
    pub fn define_il(&self, name: &str, out: &mut String) {
        let mut nested = 0;
        let mut texts = Vec::new();
        for variant in &self.variants {
            let members = variant.iter().map(|member| {
                let letter = match &member.element {
                    Element::Scalar(scalar) => scalar.letter().to_owned(),
                    Element::Nested(inner) => {
                        nested += 1;
                        inner.define_il(&format!("{name}_{nested}"), out);
                        format!(":{name}_{nested}")
                    }
                };
                if member.count == 1 { letter } else { format!("{letter} {}", member.count) }
            });
            texts.push(format!("{{ {} }}", members.collect::<Vec<_>>().join(", ")));
        }
        let align = if self.wide { "align 16 " } else { "" };
        let body =
            if self.union { format!("{{ {} }}", texts.join(" ")) } else { texts.swap_remove(0) };
        let _ = writeln!(out, "type :{name} = {align}{body}");
    }

    /// Appends the same as C. The alignment is the type's, not a member's: conventions tell these
    /// apart. An aggregate with such a member is 16-aligned by nature.
    pub fn define_c(&self, name: &str, out: &mut String) {
        let mut nested = 0;
        let wide = if self.wide { "__attribute__((aligned(16))) " } else { "" };
        let mut body = String::new();
        for (v, variant) in self.variants.iter().enumerate() {
            let bare = !self.union || variant.len() == 1;
            if !bare {
                body += " struct {";
            }
            for (m, member) in variant.iter().enumerate() {
                let ty = match &member.element {
                    Element::Scalar(scalar) => scalar.c().to_owned(),
                    Element::Nested(inner) => {
                        nested += 1;
                        inner.define_c(&format!("{name}_{nested}"), out);
                        format!("{name}_{nested}")
                    }
                };
                let count =
                    if member.count == 1 { String::new() } else { format!("[{}]", member.count) };
                let _ = write!(body, " {ty} m{v}_{m}{count};");
            }
            if !bare {
                let _ = write!(body, " }} v{v};");
            }
        }
        let keyword = if self.union { "union" } else { "struct" };
        let _ = writeln!(out, "typedef {keyword} {wide}{{{body} }} {name};");
    }

    /// An aggregate of at most so many bytes.
    pub fn random(random: &mut Random, most: u64, may_be_empty: bool) -> Aggregate {
        loop {
            let aggregate = match random.below(12) {
                0..2 => floats(random),
                2 | 3 => pair(random),
                4 | 5 => bytes(random),
                6 if may_be_empty && random.chance(20) => structure(Vec::new()),
                6 | 7 => union(random),
                _ => general(random, 3),
            };
            let wide = !aggregate.variants[0].is_empty() && random.chance(8);
            let aggregate = Aggregate { wide, ..aggregate };
            if aggregate.size() <= most {
                return aggregate;
            }
        }
    }
}

fn structure(members: Vec<Member>) -> Aggregate {
    Aggregate { union: false, wide: false, variants: vec![members], active: 0 }
}

fn row(scalar: Scalar, count: u64) -> Member {
    Member { element: Element::Scalar(scalar), count }
}

/// One to five floats of one kind, in members, arrays and nested structs.
fn floats(random: &mut Random) -> Aggregate {
    let kind = random.pick(&[S, D]);
    let mut left = random.between(1, 5) as u64;
    let mut members = Vec::new();
    while left > 0 {
        let count = random.between(1, left as usize) as u64;
        left -= count;
        let member = row(kind, count);
        members.push(match random.below(4) {
            0 => Member { element: Element::Nested(Box::new(structure(vec![member]))), count: 1 },
            _ => member,
        });
    }
    structure(members)
}

/// Two members at most, of any kinds, perhaps one deeper.
fn pair(random: &mut Random) -> Aggregate {
    let members = (0..random.between(1, 2)).map(|_| {
        let member = row(random.pick(&Scalar::ALL), 1);
        match random.below(5) {
            0 => Member { element: Element::Nested(Box::new(structure(vec![member]))), count: 1 },
            _ => member,
        }
    });
    structure(members.collect())
}

/// An odd number of bytes or halfwords.
fn bytes(random: &mut Random) -> Aggregate {
    structure(vec![row(random.pick(&[B, B, H]), random.between(1, 20) as u64)])
}

fn union(random: &mut Random) -> Aggregate {
    loop {
        let variants: Vec<Vec<Member>> =
            (0..random.between(1, 3)).map(|_| members(random, 2, 3)).collect();
        let active = random.below(variants.len());
        let union = Aggregate { union: true, wide: false, variants, active };
        if !union.clang_loses_half() {
            return union;
        }
    }
}

fn general(random: &mut Random, depth: usize) -> Aggregate {
    structure(members(random, depth, 5))
}

fn members(random: &mut Random, depth: usize, most: usize) -> Vec<Member> {
    let member = |random: &mut Random| {
        let element = match random.below(10) {
            0 if depth > 0 => Element::Nested(Box::new(general(random, depth - 1))),
            1 if depth > 1 => Element::Nested(Box::new(union(random))),
            2 if depth > 0 => Element::Nested(Box::new(floats(random))),
            _ => Element::Scalar(random.pick(&Scalar::ALL)),
        };
        let count = if random.chance(20) { random.between(2, 4) as u64 } else { 1 };
        Member { element, count }
    };
    (0..random.between(1, most)).map(|_| member(random)).collect()
}
