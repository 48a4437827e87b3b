//! The Microsoft x64 calling convention: "x64 calling convention" of Microsoft's documentation, as
//! mingw's compilers follow it.
//!
//! Arguments have numbers, and the first four go into the register of their number: an integer
//! one or a vector one. All others are on the stack, 8 bytes each, behind 32 bytes that belong to
//! the callee. An aggregate of 1, 2, 4 or 8 bytes is an integer; any other is copied by the caller
//! and its address passed.

use super::regs::{self, R8, R9, RAX, RCX, RDX, xmm};
use crate::ir::{AbiType, Module, Shape, TypeId};
use crate::target::abi::{Assignment, Convention, Piece, Place, Signature, Spot};
use crate::target::machine::PReg;
use smallvec::smallvec;

pub static INT_ARGS: [PReg; 4] = [RCX, RDX, R8, R9];
static FLOAT_ARGS: [PReg; 4] = [xmm(0), xmm(1), xmm(2), xmm(3)];

/// Bytes in front of the stack arguments where a callee may keep its register arguments.
pub const HOME: u64 = 32;

/// Windows.
pub static WIN: Convention = Convention {
    registers: &regs::WIN,
    assign,
    result,
    env: RAX,
    env_variadic: RAX,
    vector_count: None,
    hidden_result: Some(RAX),
};

/// An aggregate that is passed as an integer of its size. Nobody knows of an opaque one what it
/// is, not even that C passes it by value.
fn as_integer(module: &Module, id: TypeId) -> bool {
    let ty = &module.types[id];
    matches!(ty.size, 1 | 2 | 4 | 8) && !matches!(ty.shape, Shape::Opaque)
}

/// An aggregate in one place.
fn whole(module: &Module, id: TypeId, at: Spot) -> Place {
    Place::Pieces(smallvec![Piece { at, offset: 0, bytes: module.types[id].size as u8 }])
}

fn assign(module: &Module, signature: &Signature<'_>) -> Assignment {
    let mut count = 0;
    let mut next = || {
        count += 1;
        count - 1
    };
    let hidden = match signature.ret {
        Some(AbiType::Aggregate(id)) if !as_integer(module, id) => Some(INT_ARGS[next()]),
        _ => None,
    };
    let place = |&ty: &AbiType| {
        let n = next();
        let offset = 8 * n as u64;
        let spot = INT_ARGS.get(n).map_or(Spot::Stack(offset), |&at| Spot::Reg(at));
        match (ty, FLOAT_ARGS.get(n)) {
            (AbiType::Aggregate(id), _) if as_integer(module, id) => whole(module, id, spot),
            (AbiType::Aggregate(_), _) => Place::Reference(spot),
            (_, None) => Place::Stack { offset, bytes: 8 },
            (_, Some(_)) if ty.class().is_int() => Place::Reg(INT_ARGS[n]),
            // The callee may look for it in either, if it knows no type for it.
            (_, Some(&float)) if signature.variadic => Place::Both { float, int: INT_ARGS[n] },
            (_, Some(&float)) => Place::Reg(float),
        }
    };
    let places = signature.args.iter().map(place).collect();
    let taken = count.min(INT_ARGS.len());
    Assignment { hidden, places, stack: HOME.max(8 * count as u64), ints: taken, floats: taken }
}

fn result(module: &Module, ty: AbiType) -> Place {
    match ty {
        AbiType::Aggregate(id) if as_integer(module, id) => whole(module, id, Spot::Reg(RAX)),
        AbiType::Aggregate(_) => Place::StackAggregate(0),
        AbiType::Base(_) | AbiType::Byte { .. } | AbiType::Half { .. } => {
            Place::Reg(if ty.class().is_int() { RAX } else { xmm(0) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;

    /// Where the parameters of the first function of `text` are, and its result.
    fn places(text: &str) -> (Assignment, Option<Place>) {
        let mut module = Module::default();
        let options = crate::parse::Options::default();
        crate::parse::parse("-", text.as_bytes(), &options, &mut module).unwrap();
        let f = &module.functions[Index::new(0)];
        let args: Vec<AbiType> = f.params.iter().map(|p| p.ty).collect();
        let (named, variadic) = (args.len(), f.variadic);
        let all = assign(&module, &Signature { ret: f.ret, args: &args, named, variadic });
        (all, f.ret.map(|ty| result(&module, ty)))
    }

    fn integer(at: Spot, bytes: u8) -> Place {
        Place::Pieces(smallvec![Piece { at, offset: 0, bytes }])
    }

    #[test]
    fn registers_go_by_number() {
        let (all, ret) = places(
            "type :t = { b 3 }\ntype :u = { s, s }\n\
             function d $f(w %a, d %b, :t %c, s %d, d %e, w %f, :t %g, :u %h) {\n@s\n\tret %b\n}",
        );
        let expected = [
            Place::Reg(RCX),
            Place::Reg(xmm(1)),
            Place::Reference(Spot::Reg(R8)),
            Place::Reg(xmm(3)),
            Place::Stack { offset: 32, bytes: 8 },
            Place::Stack { offset: 40, bytes: 8 },
            Place::Reference(Spot::Stack(48)),
            integer(Spot::Stack(56), 8),
        ];
        assert_eq!(all.places, expected);
        assert_eq!((all.hidden, all.stack, all.ints), (None, 64, 4));
        assert_eq!(ret, Some(Place::Reg(xmm(0))));
    }

    #[test]
    fn aggregates_are_integers_or_references() {
        let both = |ty: &str| {
            let (all, ret) = places(&format!("{ty}\nfunction :t $f(:t %a) {{\n@s\n\tret %a\n}}"));
            assert_eq!(all.stack, HOME);
            (all.hidden, all.places[0].clone(), ret.unwrap())
        };
        for (ty, bytes) in [("{ b }", 1), ("{ b, b }", 2), ("{ s }", 4), ("{ d }", 8)] {
            let (hidden, arg, ret) = both(&format!("type :t = {ty}"));
            assert_eq!(hidden, None);
            assert_eq!(arg, integer(Spot::Reg(RCX), bytes));
            assert_eq!(ret, integer(Spot::Reg(RAX), bytes));
        }
        for ty in ["{ b 3 }", "{ w 3 }", "{ l, l }", "align 8 { 8 }", "{ }"] {
            let expected = (Some(RCX), Place::Reference(Spot::Reg(RDX)), Place::StackAggregate(0));
            assert_eq!(both(&format!("type :t = {ty}")), expected, "{ty}");
        }
    }

    #[test]
    fn variadic_floats_are_in_both_files() {
        let (all, _) = places("function $f(w %a, d %b, ...) {\n@s\n\tret\n}");
        assert_eq!(all.places[1], Place::Both { float: xmm(1), int: RDX });
        assert_eq!((all.stack, all.ints), (HOME, 2));
    }
}
