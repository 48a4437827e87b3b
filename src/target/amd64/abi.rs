//! The calling conventions of x86-64: where arguments and results go, as data.
//!
//! System V ABI, AMD64 supplement, section 3.2.3 "Parameter Passing". Aggregates are split into
//! eightbytes; an eightbyte is `Int` if any of its fields is an integer, else `Float` if it has
//! fields, else padding that is not passed at all.

use super::regs::{R8, R9, R10, RAX, RCX, RDI, RDX, RSI, xmm};
use crate::ir::{AbiType, Aggregate, Class, Field, FieldType, Module, Shape, TypeId};
use crate::target::abi::{Assignment, Convention, Piece, Place, Signature, Spot};
use crate::target::machine::PReg;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

pub static INT_ARGS: [PReg; 6] = [RDI, RSI, RDX, RCX, R8, R9];
pub static FLOAT_ARGS: [PReg; 8] = [xmm(0), xmm(1), xmm(2), xmm(3), xmm(4), xmm(5), xmm(6), xmm(7)];
const INT_RESULTS: [PReg; 2] = [RAX, RDX];
const FLOAT_RESULTS: [PReg; 2] = [xmm(0), xmm(1)];

/// Where a variadic call says how many vector registers hold arguments.
pub const VECTOR_COUNT: PReg = RAX;

/// Linux, macOS and most others.
pub static SYSV: Convention = Convention {
    registers: &super::regs::SYSV,
    assign,
    result,
    env: RAX,
    env_variadic: R10,
    vector_count: Some(VECTOR_COUNT),
    hidden_result: Some(RAX),
};

/// What an eightbyte of an aggregate holds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Eightbyte {
    /// Padding only.
    Nothing,
    Int,
    Float,
}

/// How an aggregate is passed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Passing {
    /// It has no bytes.
    Nothing,
    /// In registers, one an eightbyte that is not padding.
    Registers([Eightbyte; 2]),
    Memory,
}

/// How an aggregate type is passed.
pub fn passing(module: &Module, id: TypeId) -> Passing {
    let ty = &module.types[id];
    if ty.size == 0 {
        return Passing::Nothing;
    }
    if ty.size > 16 || matches!(ty.shape, Shape::Opaque) {
        return Passing::Memory;
    }
    let mut parts = [Eightbyte::Nothing; 2];
    classify(module, ty, &mut parts);
    if parts[0] == Eightbyte::Nothing {
        return Passing::Memory;
    }
    Passing::Registers(parts)
}

/// Marks what the fields of `ty` put into its eightbytes. It has at most 16 bytes; types nested in
/// it are followed by a list, each at each offset once.
fn classify(module: &Module, ty: &Aggregate, parts: &mut [Eightbyte; 2]) {
    let mut work: SmallVec<[(&Aggregate, u64); 8]> = smallvec![(ty, 0)];
    let mut seen = FxHashSet::default();
    while let Some((ty, offset)) = work.pop() {
        let mut mark = |field: &Field| {
            for n in 0..field.count.min(16) {
                let (size, part) = match field.ty {
                    FieldType::B => (1, Eightbyte::Int),
                    FieldType::H => (2, Eightbyte::Int),
                    FieldType::W => (4, Eightbyte::Int),
                    FieldType::L => (8, Eightbyte::Int),
                    FieldType::S => (4, Eightbyte::Float),
                    FieldType::D => (8, Eightbyte::Float),
                    FieldType::Aggregate(id) => {
                        let inner = &module.types[id];
                        let at = offset + field.offset + n * inner.size;
                        if seen.insert((id, at)) {
                            work.push((inner, at));
                        }
                        continue;
                    }
                };
                let slot = &mut parts[((offset + field.offset + n * size) / 8).min(1) as usize];
                if *slot != Eightbyte::Int {
                    *slot = part;
                }
            }
        };
        match &ty.shape {
            // Bytes nobody knows: integers, as a C compiler sees an array of char.
            Shape::Opaque => {
                let bytes = Field { offset: 0, ty: FieldType::B, count: ty.size };
                mark(&bytes);
            }
            Shape::Struct(fields) => fields.iter().for_each(mark),
            Shape::Union(variants) => variants.iter().flatten().for_each(mark),
        }
    }
}

/// Gives out the registers and the stack of one call.
struct Assigner {
    ints: usize,
    floats: usize,
    stack: u64,
}

impl Assigner {
    fn scalar(&mut self, class: Class) -> Place {
        let (list, used): (&[PReg], _) = if class.is_int() {
            (&INT_ARGS, &mut self.ints)
        } else {
            (&FLOAT_ARGS, &mut self.floats)
        };
        if *used < list.len() {
            *used += 1;
            return Place::Reg(list[*used - 1]);
        }
        self.stack += 8;
        Place::Stack { offset: self.stack - 8, bytes: 8 }
    }

    fn aggregate(&mut self, module: &Module, id: TypeId) -> Place {
        let ty = &module.types[id];
        match passing(module, id) {
            Passing::Nothing => return Place::Nothing,
            Passing::Registers(parts) => {
                let count = |p| parts.iter().filter(|&&q| q == p).count();
                let (ints, floats) = (count(Eightbyte::Int), count(Eightbyte::Float));
                if self.ints + ints <= INT_ARGS.len() && self.floats + floats <= FLOAT_ARGS.len() {
                    let pieces =
                        pieces(ty.size, parts, &INT_ARGS[self.ints..], &FLOAT_ARGS[self.floats..]);
                    self.ints += ints;
                    self.floats += floats;
                    return Place::Pieces(pieces);
                }
            }
            Passing::Memory => {}
        }
        // The stack pointer itself is aligned to 16 at a call; types that want more do not get it.
        let at = self.stack.next_multiple_of(ty.align.clamp(8, 16));
        self.stack = at + ty.size.next_multiple_of(8);
        Place::StackAggregate(at)
    }
}

/// The registers of an aggregate's eightbytes.
fn pieces<'a>(
    size: u64,
    parts: [Eightbyte; 2],
    mut ints: &'a [PReg],
    mut floats: &'a [PReg],
) -> SmallVec<[Piece; 4]> {
    let mut pieces = SmallVec::new();
    for (n, part) in parts.iter().enumerate() {
        let list = match part {
            Eightbyte::Nothing => continue,
            Eightbyte::Int => &mut ints,
            Eightbyte::Float => &mut floats,
        };
        let offset = 8 * n as u64;
        pieces.push(Piece { at: Spot::Reg(list[0]), offset, bytes: (size - offset).min(8) as u8 });
        *list = &list[1..];
    }
    pieces
}

/// Where the arguments of a call or the parameters of a function go.
fn assign(module: &Module, signature: &Signature<'_>) -> Assignment {
    let mut assigner = Assigner { ints: 0, floats: 0, stack: 0 };
    let hidden = match signature.ret {
        Some(AbiType::Aggregate(id)) if passing(module, id) == Passing::Memory => {
            assigner.ints = 1;
            Some(INT_ARGS[0])
        }
        _ => None,
    };
    let places = signature
        .args
        .iter()
        .map(|&ty| match ty {
            AbiType::Aggregate(id) => assigner.aggregate(module, id),
            AbiType::Base(_) | AbiType::Byte { .. } | AbiType::Half { .. } => {
                assigner.scalar(ty.class())
            }
        })
        .collect();
    Assignment {
        hidden,
        places,
        stack: assigner.stack,
        ints: assigner.ints,
        floats: assigner.floats,
    }
}

/// Where a result is. `StackAggregate` stands for the memory that the hidden pointer names.
fn result(module: &Module, ty: AbiType) -> Place {
    match ty {
        AbiType::Aggregate(id) => match passing(module, id) {
            Passing::Nothing => Place::Nothing,
            Passing::Memory => Place::StackAggregate(0),
            Passing::Registers(parts) => {
                Place::Pieces(pieces(module.types[id].size, parts, &INT_RESULTS, &FLOAT_RESULTS))
            }
        },
        AbiType::Base(_) | AbiType::Byte { .. } | AbiType::Half { .. } => {
            Place::Reg(if ty.class().is_int() { INT_RESULTS[0] } else { FLOAT_RESULTS[0] })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::target::amd64::regs::{RAX, RDI, RDX, RSI};

    /// Places of the parameters, and of the result, of the first function of `text`.
    fn places(text: &str) -> (Vec<Place>, Option<Place>, u64) {
        let mut module = Module::default();
        let options = crate::parse::Options::default();
        crate::parse::parse("-", text.as_bytes(), &options, &mut module).unwrap();
        let f = &module.functions[Index::new(0)];
        let args: Vec<AbiType> = f.params.iter().map(|p| p.ty).collect();
        let signature =
            Signature { ret: f.ret, args: &args, named: args.len(), variadic: f.variadic };
        let all = assign(&module, &signature);
        (all.places, f.ret.map(|ty| result(&module, ty)), all.stack)
    }

    fn in_registers(list: &[(PReg, u64, u8)]) -> Place {
        Place::Pieces(
            list.iter()
                .map(|&(reg, offset, bytes)| Piece { at: Spot::Reg(reg), offset, bytes })
                .collect(),
        )
    }

    /// The place of one parameter and result of a type.
    fn both(ty: &str) -> (Place, Place) {
        let text = format!("{ty}\nfunction :t $f(:t %a) {{\n@s\n\tret %a\n}}");
        let (mut places, ret, _) = places(&text);
        (places.remove(0), ret.unwrap())
    }

    #[test]
    fn eightbytes() {
        let both_in = |ty: &str, args: &[(PReg, u64, u8)], results: &[(PReg, u64, u8)]| {
            assert_eq!(both(ty), (in_registers(args), in_registers(results)), "{ty}");
        };
        let (f0, f1) = (xmm(0), xmm(1));
        both_in("type :t = { b 3 }", &[(RDI, 0, 3)], &[(RAX, 0, 3)]);
        both_in("type :t = { l, d }", &[(RDI, 0, 8), (f0, 8, 8)], &[(RAX, 0, 8), (f0, 8, 8)]);
        both_in("type :t = { s 3 }", &[(f0, 0, 8), (f1, 8, 4)], &[(f0, 0, 8), (f1, 8, 4)]);
        both_in("type :t = { s, w, l }", &[(RDI, 0, 8), (RSI, 8, 8)], &[(RAX, 0, 8), (RDX, 8, 8)]);
        both_in("type :t = { { d } { w } }", &[(RDI, 0, 8)], &[(RAX, 0, 8)]);
        both_in(
            "type :u = { s, s }\ntype :t = { :u, d }",
            &[(f0, 0, 8), (f1, 8, 8)],
            &[(f0, 0, 8), (f1, 8, 8)],
        );
        both_in(
            "type :u = { b, b }\ntype :t = { d, :u 3 }",
            &[(f0, 0, 8), (RDI, 8, 8)],
            &[(f0, 0, 8), (RAX, 8, 8)],
        );
        // The second eightbyte is padding.
        both_in("type :t = align 16 { d }", &[(f0, 0, 8)], &[(f0, 0, 8)]);
    }

    #[test]
    fn memory_and_nothing() {
        let memory = (Place::StackAggregate(0), Place::StackAggregate(0));
        assert_eq!(both("type :t = { l 3 }"), memory);
        assert_eq!(both("type :t = align 8 { 8 }"), memory);
        assert_eq!(both("type :t = { }"), (Place::Nothing, Place::Nothing));
    }

    #[test]
    fn registers_run_out() {
        let (all, ret, stack) = places(
            "type :t = { l, l }\ntype :a = align 16 { l 4 }\n\
             function :a $f(l %a, l %b, l %c, l %d, :t %e, l %f, :a %g, w %h) {\n@s\n\tret %g\n}",
        );
        // One register is left after four, the hidden pointer and none of `:t`.
        assert_eq!(all[4], Place::StackAggregate(0));
        assert_eq!(all[5], Place::Reg(R9));
        assert_eq!(all[6], Place::StackAggregate(16));
        assert_eq!(all[7], Place::Stack { offset: 48, bytes: 8 });
        assert_eq!(ret, Some(Place::StackAggregate(0)));
        assert_eq!(stack, 56);
    }

    #[test]
    fn unions_of_unions_are_not_walked_twice() {
        let mut text = String::from("type :t0 = { { b } { h } }\n");
        for n in 1..64 {
            text += &format!("type :t{n} = {{ {{ :t{} }} {{ :t{} }} }}\n", n - 1, n - 1);
        }
        text += "type :t = { :t63 }";
        assert_eq!(both(&text).0, in_registers(&[(RDI, 0, 2)]));
    }
}
