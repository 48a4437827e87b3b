//! The calling conventions of AArch64: where arguments and results go, as data.
//!
//! Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), 6.8.2 "Parameter passing
//! rules" and 6.9 "Result return"; the names of rules (B.4, C.10) are those of its text. What Apple
//! does otherwise: <https://developer.apple.com/documentation/xcode/writing-arm64-code-for-apple-platforms>

use super::regs::{APPLE as APPLE_REGISTERS, ELF as ELF_REGISTERS, v, x};
use crate::ir::{AbiType, Aggregate, Class, Field, FieldType, Module, Shape, TypeId};
use crate::target::abi::{Assignment, Convention, Piece, Place, Signature, Spot};
use crate::target::machine::PReg;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Argument and result registers of each file.
pub const REGISTERS: usize = 8;

/// What differs between systems.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum System {
    Elf,
    /// Stack arguments are packed, variadic arguments are all on the stack, and an aggregate of
    /// alignment 16 may start in any register.
    Apple,
}

pub static ELF: Convention = Convention {
    registers: &ELF_REGISTERS,
    assign: |module, signature| assign(System::Elf, module, signature),
    result,
    env: x(9),
    env_variadic: x(9),
    vector_count: None,
    hidden_result: None,
};

pub static APPLE: Convention = Convention {
    registers: &APPLE_REGISTERS,
    assign: |module, signature| assign(System::Apple, module, signature),
    ..ELF
};

/// How an aggregate is passed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Passing {
    /// It has no bytes.
    Nothing,
    /// Floats alone, at most four of one size: one a vector register (a homogeneous
    /// floating-point aggregate, AAPCS64 5.9.5.1).
    Floats { count: u8, size: u8 },
    /// Up to 16 bytes in integer registers.
    Integers,
    /// In memory: the address of a copy.
    Memory,
}

fn passing(module: &Module, id: TypeId) -> Passing {
    let ty = &module.types[id];
    if ty.size == 0 {
        return Passing::Nothing;
    }
    // What bytes nobody knows hold is what a C compiler sees in an array of char.
    if matches!(ty.shape, Shape::Opaque) {
        return Passing::Memory;
    }
    match homogeneous(module, id) {
        Some((count, size)) => Passing::Floats { count, size },
        None if ty.size > 16 => Passing::Memory,
        None => Passing::Integers,
    }
}

/// Floats in an aggregate: how many, and the size of each (0: there are none yet).
type Floats = (u64, u64);

/// The members of a homogeneous aggregate: how many and how large.
fn homogeneous(module: &Module, id: TypeId) -> Option<(u8, u8)> {
    if module.types[id].size > 32 {
        return None;
    }
    let mut known: FxHashMap<TypeId, Floats> = FxHashMap::default();
    // A type only contains types defined before it.
    for id in nested(module, id) {
        let floats = floats_of(&module.types[id], &known)?;
        known.insert(id, floats);
    }
    let (count, size) = known[&id];
    (1..=4).contains(&count).then_some((count as u8, size as u8))
}

/// The type and all in it, in the order of their definition.
fn nested(module: &Module, id: TypeId) -> Vec<TypeId> {
    let mut seen = FxHashSet::default();
    let mut work = vec![id];
    let mut all = Vec::new();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        all.push(id);
        let mut add = |field: &Field| {
            if let FieldType::Aggregate(inner) = field.ty {
                work.push(inner);
            }
        };
        match &module.types[id].shape {
            Shape::Opaque => {}
            Shape::Struct(fields) => fields.iter().for_each(&mut add),
            Shape::Union(variants) => variants.iter().flatten().for_each(&mut add),
        }
    }
    all.sort_unstable();
    all
}

/// The floats of a type, if it is made of nothing else, padding included.
fn floats_of(ty: &Aggregate, known: &FxHashMap<TypeId, Floats>) -> Option<Floats> {
    let lists: SmallVec<[&[Field]; 4]> = match &ty.shape {
        Shape::Opaque => return None,
        Shape::Struct(fields) => std::iter::once(fields.as_slice()).collect(),
        Shape::Union(variants) => variants.iter().map(Vec::as_slice).collect(),
    };
    let (mut most, mut size) = (0, 0);
    for fields in lists {
        let mut count = 0u64;
        for field in fields {
            let (inner, inner_size) = match field.ty {
                FieldType::S => (1, 4),
                FieldType::D => (1, 8),
                FieldType::Aggregate(id) => *known.get(&id)?,
                FieldType::B | FieldType::H | FieldType::W | FieldType::L => return None,
            };
            if inner_size != 0 && size != 0 && inner_size != size {
                return None;
            }
            size = size.max(inner_size);
            count = count.saturating_add(inner.saturating_mul(field.count));
        }
        most = most.max(count);
    }
    (most.checked_mul(size) == Some(ty.size)).then_some((most, size))
}

/// The alignment of an aggregate as an argument: its members', whatever its own type asks for
/// (AAPCS64 5.9.3, "natural alignment"). Apple takes the type's.
fn argument_align(module: &Module, system: System, ty: &Aggregate) -> u64 {
    if system == System::Apple {
        return ty.align;
    }
    let of = |field: &Field| match field.ty {
        FieldType::B => 1,
        FieldType::H => 2,
        FieldType::W | FieldType::S => 4,
        FieldType::L | FieldType::D => 8,
        FieldType::Aggregate(id) => module.types[id].align,
    };
    let most = |fields: &[Field]| fields.iter().map(of).max().unwrap_or(1);
    match &ty.shape {
        Shape::Opaque => ty.align,
        Shape::Struct(fields) => most(fields),
        Shape::Union(variants) => variants.iter().map(|v| most(v)).max().unwrap_or(1),
    }
}

/// Gives out the registers and the stack of one call.
struct Assigner<'a> {
    module: &'a Module,
    system: System,
    /// The next register of each file (NGRN, NSRN), and place on the stack (NSAA).
    ints: usize,
    floats: usize,
    stack: u64,
}

impl Assigner<'_> {
    /// Takes `size` bytes of the stack.
    fn on_stack(&mut self, size: u64, align: u64) -> u64 {
        let (size, align) = match self.system {
            // C.14, C.16: whole units of 8 bytes.
            System::Elf => (size.next_multiple_of(8), align.clamp(8, 16)),
            System::Apple => (size, align.min(16)),
        };
        let at = self.stack.next_multiple_of(align);
        self.stack = at + size;
        at
    }

    fn scalar(&mut self, ty: AbiType) -> Place {
        let class = ty.class();
        let used = if class.is_int() { &mut self.ints } else { &mut self.floats };
        if *used < REGISTERS {
            *used += 1;
            return Place::Reg(register(class, *used - 1));
        }
        let size = match (self.system, ty) {
            (System::Elf, _) => 8,
            (System::Apple, AbiType::Byte { .. }) => 1,
            (System::Apple, AbiType::Half { .. }) => 2,
            (System::Apple, _) => class.size() as u8,
        };
        let offset = self.on_stack(u64::from(size), u64::from(size));
        Place::Stack { offset, bytes: size }
    }

    fn aggregate(&mut self, id: TypeId) -> Place {
        let ty = &self.module.types[id];
        let align = argument_align(self.module, self.system, ty);
        match passing(self.module, id) {
            Passing::Nothing => Place::Nothing,
            Passing::Floats { count, size } => {
                let first = self.floats;
                if first + usize::from(count) <= REGISTERS {
                    self.floats += usize::from(count);
                    return Place::Pieces(float_pieces(first, count, size));
                }
                // C.3: no later argument takes the registers that are left.
                self.floats = REGISTERS;
                // Apple's compilers see an array of floats there, whatever the type asks for.
                let align = if self.system == System::Apple { u64::from(size) } else { align };
                Place::StackAggregate(self.on_stack(ty.size, align))
            }
            Passing::Integers => {
                let count = ty.size.div_ceil(8) as usize;
                let mut first = self.ints;
                if align >= 16 && self.system == System::Elf {
                    // C.10
                    first = first.next_multiple_of(2);
                }
                if first + count <= REGISTERS {
                    self.ints = first + count;
                    return Place::Pieces(int_pieces(first, ty.size));
                }
                // C.13
                self.ints = REGISTERS;
                let size = ty.size.next_multiple_of(8);
                Place::StackAggregate(self.on_stack(size, align.max(8)))
            }
            // B.4
            Passing::Memory => Place::Reference(match self.scalar(AbiType::Base(Class::L)) {
                Place::Reg(reg) => Spot::Reg(reg),
                Place::Stack { offset, .. } => Spot::Stack(offset),
                _ => unreachable!("an address is a scalar"),
            }),
        }
    }

    /// An argument after the `...` of Apple: on the stack, in units of 8 bytes.
    fn unnamed(&mut self, ty: AbiType) -> Place {
        let AbiType::Aggregate(id) = ty else {
            return Place::Stack { offset: self.on_stack(8, 8), bytes: 8 };
        };
        let ty = &self.module.types[id];
        match passing(self.module, id) {
            Passing::Nothing => Place::Nothing,
            Passing::Floats { .. } | Passing::Integers => {
                let size = ty.size.next_multiple_of(8);
                Place::StackAggregate(self.on_stack(size, ty.align.max(8)))
            }
            Passing::Memory => Place::Reference(Spot::Stack(self.on_stack(8, 8))),
        }
    }
}

/// Argument or result register number `n` of the file of a class.
fn register(class: Class, n: usize) -> PReg {
    if class.is_int() { x(n as u8) } else { v(n as u8) }
}

fn float_pieces(first: usize, count: u8, size: u8) -> SmallVec<[Piece; 4]> {
    (0..count)
        .map(|n| Piece {
            at: Spot::Reg(v(first as u8 + n)),
            offset: u64::from(n) * u64::from(size),
            bytes: size,
        })
        .collect()
}

fn int_pieces(first: usize, size: u64) -> SmallVec<[Piece; 4]> {
    (0..size.div_ceil(8))
        .map(|n| Piece {
            at: Spot::Reg(x(first as u8 + n as u8)),
            offset: 8 * n,
            bytes: (size - 8 * n).min(8) as u8,
        })
        .collect()
}

fn assign(system: System, module: &Module, signature: &Signature<'_>) -> Assignment {
    let mut assigner = Assigner { module, system, ints: 0, floats: 0, stack: 0 };
    let hidden = match signature.ret {
        Some(AbiType::Aggregate(id)) if passing(module, id) == Passing::Memory => Some(x(8)),
        _ => None,
    };
    let mut places = Vec::with_capacity(signature.args.len());
    for (n, &ty) in signature.args.iter().enumerate() {
        if n == signature.named {
            assigner.stack = assigner.stack.next_multiple_of(8);
        }
        places.push(match ty {
            _ if system == System::Apple && n >= signature.named => assigner.unnamed(ty),
            AbiType::Aggregate(id) => assigner.aggregate(id),
            AbiType::Base(_) | AbiType::Byte { .. } | AbiType::Half { .. } => assigner.scalar(ty),
        });
    }
    Assignment {
        hidden,
        places,
        stack: assigner.stack.next_multiple_of(8),
        ints: assigner.ints,
        floats: assigner.floats,
    }
}

/// Where a result is (6.9). In memory: where x8 said, and nothing brings the address back.
fn result(module: &Module, ty: AbiType) -> Place {
    let AbiType::Aggregate(id) = ty else { return Place::Reg(register(ty.class(), 0)) };
    match passing(module, id) {
        Passing::Nothing => Place::Nothing,
        Passing::Floats { count, size } => Place::Pieces(float_pieces(0, count, size)),
        Passing::Integers => Place::Pieces(int_pieces(0, module.types[id].size)),
        Passing::Memory => Place::StackAggregate(0),
    }
}

#[cfg(test)]
#[path = "abi_tests.rs"]
mod tests;
