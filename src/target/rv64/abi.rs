//! The calling convention of RISC-V, lp64d.
//!
//! RISC-V ELF psABI, chapters "Integer Calling Convention" and "Hardware Floating-point Calling
//! Convention". What the text leaves open is as gcc 12 and clang 14 do it; they agree.

use super::regs::{A0, LP64D, T5, a, fa};
use crate::ir::{AbiType, Aggregate, Class, FieldType, Module, Shape, TypeId};
use crate::target::abi::{Assignment, Convention, Piece, Place, Signature, Spot};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// Integer argument registers, and float ones.
pub const ARGUMENTS: usize = 8;

/// The convention. The callee does not give back the address of a result in memory. `env` is in t5
/// as QBE has it; a call destroys the register, and no argument is in it.
pub static CONVENTION: Convention = Convention {
    registers: &LP64D,
    assign,
    result,
    env: T5,
    env_variadic: T5,
    vector_count: None,
    hidden_result: None,
};

/// A field of a flattened struct: where it is, how many bytes it has, whether it is a float.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Leaf {
    offset: u64,
    bytes: u8,
    float: bool,
}

/// The fields of a struct if float registers may hold some of it: one or two of them, at most one
/// an integer. Nested structs and arrays count as their fields, unions are never looked into.
fn flattened(module: &Module, id: TypeId) -> Option<SmallVec<[Leaf; 2]>> {
    let mut leaves: SmallVec<[Leaf; 2]> = SmallVec::new();
    let mut work: SmallVec<[(&Aggregate, u64); 8]> = smallvec![(&module.types[id], 0)];
    // An empty struct can be nested at one offset any number of times.
    let mut seen = FxHashSet::default();
    while let Some((ty, offset)) = work.pop() {
        let fields = match &ty.shape {
            Shape::Struct(fields) => fields,
            Shape::Opaque | Shape::Union(_) if ty.size == 0 => continue,
            Shape::Opaque | Shape::Union(_) => return None,
        };
        for field in fields {
            let (bytes, float) = match field.ty {
                FieldType::B => (1, false),
                FieldType::H => (2, false),
                FieldType::W => (4, false),
                FieldType::L => (8, false),
                FieldType::S => (4, true),
                FieldType::D => (8, true),
                FieldType::Aggregate(id) => {
                    let inner = &module.types[id];
                    for n in 0..field.count.min(3) {
                        let at = offset + field.offset + n * inner.size;
                        if seen.insert((id, at)) {
                            work.push((inner, at));
                        }
                    }
                    continue;
                }
            };
            for n in 0..field.count.min(3) {
                let offset = offset + field.offset + n * u64::from(bytes);
                leaves.push(Leaf { offset, bytes, float });
            }
            if leaves.len() > 2 {
                return None;
            }
        }
    }
    leaves.sort_by_key(|leaf| leaf.offset);
    let floats = leaves.iter().filter(|leaf| leaf.float).count();
    (floats > 0 && leaves.len() - floats < 2).then_some(leaves)
}

/// The registers of a flattened struct, if from these numbers on there are enough.
fn in_floats(leaves: &[Leaf], mut ints: usize, mut floats: usize) -> Option<SmallVec<[Piece; 4]>> {
    let mut pieces = SmallVec::new();
    for leaf in leaves {
        let used = if leaf.float { &mut floats } else { &mut ints };
        if *used == ARGUMENTS {
            return None;
        }
        let number = *used as u8;
        let at = Spot::Reg(if leaf.float { fa(number) } else { a(number) });
        *used += 1;
        pieces.push(Piece { at, offset: leaf.offset, bytes: leaf.bytes });
    }
    Some(pieces)
}

/// Gives out the registers and the stack of one call.
#[derive(Default)]
struct Assigner {
    ints: usize,
    floats: usize,
    stack: u64,
}

impl Assigner {
    /// The next integer register, or 8 bytes of the stack.
    fn word(&mut self) -> Spot {
        if self.ints < ARGUMENTS {
            self.ints += 1;
            return Spot::Reg(a(self.ints as u8 - 1));
        }
        self.stack += 8;
        Spot::Stack(self.stack - 8)
    }

    fn scalar(&mut self, class: Class, variadic: bool) -> Place {
        if class.is_float() && !variadic && self.floats < ARGUMENTS {
            self.floats += 1;
            return Place::Reg(fa(self.floats as u8 - 1));
        }
        match self.word() {
            Spot::Reg(reg) => Place::Reg(reg),
            Spot::Stack(offset) => Place::Stack { offset, bytes: 8 },
        }
    }

    fn aggregate(&mut self, module: &Module, id: TypeId, variadic: bool) -> Place {
        let ty = &module.types[id];
        if ty.size == 0 {
            return Place::Nothing;
        }
        if !variadic
            && let Some(leaves) = flattened(module, id)
            && let Some(pieces) = in_floats(&leaves, self.ints, self.floats)
        {
            let floats = leaves.iter().filter(|leaf| leaf.float).count();
            self.floats += floats;
            self.ints += leaves.len() - floats;
            return Place::Pieces(pieces);
        }
        if ty.size > 16 {
            return Place::Reference(self.word());
        }
        // "Variadic arguments with 2×XLEN-bit alignment and size at most 2×XLEN bits are passed in
        // an aligned register pair": named ones are not aligned in registers.
        let pair = ty.align >= 16;
        if pair && variadic {
            self.ints = self.ints.next_multiple_of(2);
        }
        if self.ints == ARGUMENTS {
            let at = self.stack.next_multiple_of(if pair { 16 } else { 8 });
            self.stack = at + ty.size.next_multiple_of(8);
            return Place::StackAggregate(at);
        }
        let mut pieces = SmallVec::new();
        for offset in (0..ty.size).step_by(8) {
            let bytes = (ty.size - offset).min(8) as u8;
            pieces.push(Piece { at: self.word(), offset, bytes });
        }
        Place::Pieces(pieces)
    }
}

/// `Convention::assign`.
fn assign(module: &Module, signature: &Signature<'_>) -> Assignment {
    let mut assigner = Assigner::default();
    let in_memory = signature.ret.is_some_and(|ty| result(module, ty) == Place::StackAggregate(0));
    let hidden = in_memory.then_some(A0);
    assigner.ints = usize::from(in_memory);
    let places = signature
        .args
        .iter()
        .enumerate()
        .map(|(n, &ty)| {
            let variadic = signature.variadic && n >= signature.named;
            match ty {
                AbiType::Aggregate(id) => assigner.aggregate(module, id, variadic),
                AbiType::Base(_) | AbiType::Byte { .. } | AbiType::Half { .. } => {
                    assigner.scalar(ty.class(), variadic)
                }
            }
        })
        .collect();
    let Assigner { ints, floats, stack } = assigner;
    Assignment { hidden, places, stack, ints, floats }
}

/// `Convention::result`: "in the same manner as a first named argument of the same type", but not on
/// the stack.
fn result(module: &Module, ty: AbiType) -> Place {
    let AbiType::Aggregate(id) = ty else {
        return Assigner::default().scalar(ty.class(), false);
    };
    match Assigner::default().aggregate(module, id, false) {
        Place::Reference(_) => Place::StackAggregate(0),
        place => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use pretty_assertions::assert_eq;

    fn module(text: &str) -> Module {
        let mut module = Module::default();
        let options = crate::parse::Options::default();
        crate::parse::parse("-", text.as_bytes(), &options, &mut module).unwrap();
        module
    }

    /// Places of the parameters, and of the result, of the first function of `text`.
    fn places(text: &str) -> (Assignment, Option<Place>) {
        let module = module(text);
        let f = &module.functions[Index::new(0)];
        let args: Vec<AbiType> = f.params.iter().map(|p| p.ty).collect();
        let signature = Signature { ret: f.ret, args: &args, named: args.len(), variadic: false };
        (assign(&module, &signature), f.ret.map(|ty| result(&module, ty)))
    }

    /// Places of the arguments of the first call of `text`.
    fn arguments(text: &str) -> Assignment {
        let module = module(text);
        let call = &module.functions[Index::new(0)].calls[Index::new(0)];
        let args: Vec<AbiType> = call.args.iter().map(|arg| arg.ty).collect();
        let named = call.variadic.map_or(args.len(), |n| n as usize);
        let variadic = call.variadic.is_some();
        assign(&module, &Signature { ret: call.ret, args: &args, named, variadic })
    }

    /// Where, offset, bytes.
    type Pieces<'a> = &'a [(Spot, u64, u8)];

    fn pieces(list: Pieces<'_>) -> Place {
        Place::Pieces(list.iter().map(|&(at, offset, bytes)| Piece { at, offset, bytes }).collect())
    }

    fn int(n: u8) -> Spot {
        Spot::Reg(a(n))
    }

    fn float(n: u8) -> Spot {
        Spot::Reg(fa(n))
    }

    /// The place of the only parameter of a type, and of a result.
    fn both(ty: &str) -> (Place, Place) {
        let text = format!("{ty}\nfunction :t $f(:t %a) {{\n@s\n\tret %a\n}}");
        let (mut assignment, ret) = places(&text);
        (assignment.places.remove(0), ret.unwrap())
    }

    #[test]
    fn structs_in_registers() {
        let rows: &[(&str, Pieces<'_>)] = &[
            ("type :t = { b 3 }", &[(int(0), 0, 3)]),
            ("type :t = { l, w }", &[(int(0), 0, 8), (int(1), 8, 8)]),
            ("type :t = { s }", &[(float(0), 0, 4)]),
            ("type :t = { d 2 }", &[(float(0), 0, 8), (float(1), 8, 8)]),
            ("type :t = { s, d }", &[(float(0), 0, 4), (float(1), 8, 8)]),
            ("type :t = { s, b }", &[(float(0), 0, 4), (int(0), 4, 1)]),
            ("type :t = { w, d }", &[(int(0), 0, 4), (float(0), 8, 8)]),
            ("type :t = { s, w, w }", &[(int(0), 0, 8), (int(1), 8, 4)]),
            ("type :t = { s 3 }", &[(int(0), 0, 8), (int(1), 8, 4)]),
            ("type :t = { w, w, d }", &[(int(0), 0, 8), (int(1), 8, 8)]),
            ("type :u = { { s } }\ntype :t = { :u }", &[(int(0), 0, 4)]),
            ("type :t = { { d } { l } }", &[(int(0), 0, 8)]),
            ("type :t = align 8 { 12 }", &[(int(0), 0, 8), (int(1), 8, 4)]),
            ("type :u = { s }\ntype :t = { :u 2 }", &[(float(0), 0, 4), (float(1), 4, 4)]),
            (
                "type :v = { b }\ntype :u = { :v }\ntype :t = { :u, d }",
                &[(int(0), 0, 1), (float(0), 8, 8)],
            ),
            ("type :e = { }\ntype :t = { :e 9, d, w 0 }", &[(float(0), 0, 8)]),
            ("type :t = align 16 { d }", &[(float(0), 0, 8)]),
            ("type :u = align 16 { l }\ntype :t = { s, :u }", &[(float(0), 0, 4), (int(0), 16, 8)]),
        ];
        for (ty, list) in rows {
            assert_eq!(both(ty), (pieces(list), pieces(list)), "{ty}");
        }
    }

    #[test]
    fn structs_in_memory_and_nowhere() {
        let memory = (Place::Reference(int(1)), Place::StackAggregate(0));
        for ty in ["{ l 3 }", "{ d 3 }", "align 8 { 17 }", "align 32 { d, s, w }"] {
            assert_eq!(both(&format!("type :t = {ty}")), memory, "{ty}");
        }
        assert_eq!(both("type :t = { }"), (Place::Nothing, Place::Nothing));
        assert_eq!(both("type :t = { { } { } }"), (Place::Nothing, Place::Nothing));
    }

    #[test]
    fn results_of_scalars() {
        let of = |class: char| places(&format!("function {class} $f() {{\n@s\n\tret 0\n}}")).1;
        assert_eq!(of('w'), Some(Place::Reg(a(0))));
        assert_eq!(of('d'), Some(Place::Reg(fa(0))));
    }

    #[test]
    fn floats_go_to_integer_registers_and_then_to_the_stack() {
        let (all, _) = places(
            "function $f(d %a, d %b, d %c, d %d, d %e, d %f, d %g, s %h, s %i, l %j, l %k, l %l, \
             l %m, l %n, l %o, l %p, d %q, w %r) {\n@s\n\tret\n}",
        );
        assert_eq!(all.places[7], Place::Reg(fa(7)));
        assert_eq!(all.places[8], Place::Reg(a(0)));
        assert_eq!(all.places[15], Place::Reg(a(7)));
        assert_eq!(all.places[16], Place::Stack { offset: 0, bytes: 8 });
        assert_eq!(all.places[17], Place::Stack { offset: 8, bytes: 8 });
        assert_eq!((all.ints, all.floats, all.stack), (8, 8, 16));
    }

    #[test]
    fn a_struct_is_split_between_registers_and_stack() {
        let (all, _) = places(
            "type :t = { l, w }\ntype :a = align 16 { w }\n\
             function $f(l %a, l %b, l %c, l %d, l %e, l %f, l %g, :t %h, l %i, :a %j, w %k) {\n\
             @s\n\tret\n}",
        );
        assert_eq!(all.places[7], pieces(&[(int(7), 0, 8), (Spot::Stack(0), 8, 8)]));
        assert_eq!(all.places[8], Place::Stack { offset: 8, bytes: 8 });
        assert_eq!(all.places[9], Place::StackAggregate(16));
        assert_eq!(all.places[10], Place::Stack { offset: 32, bytes: 8 });
        assert_eq!(all.stack, 40);
    }

    #[test]
    fn structs_with_floats_fall_back_as_a_whole() {
        // One float register is left, then none; the struct is passed as two integers.
        let (all, _) = places(
            "type :t = { d, d }\ntype :m = { s, w }\n\
             function $f(d %a, d %b, d %c, d %d, d %e, d %f, d %g, :t %h, d %i, :m %j) {\n\
             @s\n\tret\n}",
        );
        assert_eq!(all.places[7], pieces(&[(int(0), 0, 8), (int(1), 8, 8)]));
        assert_eq!(all.places[8], Place::Reg(fa(7)));
        assert_eq!(all.places[9], pieces(&[(int(2), 0, 8)]));
        // No integer register is left for a mixed pair.
        let (all, _) = places(
            "type :m = { s, w }\nfunction $f(l %a, l %b, l %c, l %d, l %e, l %f, l %g, l %h, \
             :m %i) {\n@s\n\tret\n}",
        );
        assert_eq!(all.places[8], Place::StackAggregate(0));
    }

    #[test]
    fn the_result_address_is_the_first_argument() {
        let (all, ret) = places("type :t = { l 3 }\nfunction :t $f(:t %a) {\n@s\n\tret %a\n}");
        assert_eq!(all.hidden, Some(a(0)));
        assert_eq!(all.places[0], Place::Reference(int(1)));
        assert_eq!(ret, Some(Place::StackAggregate(0)));
    }

    #[test]
    fn variadic_arguments_are_integers() {
        let all = arguments(
            "type :d = { d }\ntype :a = align 16 { w }\n\
             function $f(l %p) {\n@s\n\tcall $g(:a %p, d d_1, ..., d d_1, :d %p, :a %p, w 1, :a %p, \
             s s_1)\n\tret\n}",
        );
        assert_eq!(all.places[0], pieces(&[(int(0), 0, 8), (int(1), 8, 8)]));
        assert_eq!(all.places[1], Place::Reg(fa(0)));
        assert_eq!(all.places[2], Place::Reg(a(2)));
        assert_eq!(all.places[3], pieces(&[(int(3), 0, 8)]));
        assert_eq!(all.places[4], pieces(&[(int(4), 0, 8), (int(5), 8, 8)]));
        assert_eq!(all.places[5], Place::Reg(a(6)));
        // An odd register is left over: the pair goes to the stack, and so does what follows.
        assert_eq!(all.places[6], Place::StackAggregate(0));
        assert_eq!(all.places[7], Place::Stack { offset: 16, bytes: 8 });
    }

    #[test]
    fn nested_empty_types_are_not_walked_twice() {
        let mut text = String::from("type :t0 = { }\n");
        for n in 1..64 {
            text += &format!("type :t{n} = {{ :t{} 3, :t{} }}\n", n - 1, n - 1);
        }
        text += "type :t = { :t63, d }";
        assert_eq!(both(&text).0, pieces(&[(float(0), 0, 8)]));
    }
}
