//! Random straight-line functions: folding must change no value, and no known bit may be wrong.

use super::fold;
use crate::analysis::bits::{Bits, mask};
use crate::index::{Index, IndexVec};
use crate::ir::eval::{eval, loaded};
use crate::ir::ops::Want;
use crate::ir::{
    AbiType, Block, Class, Function, Inst, Jump, Module, Op, Param, Ref, Temp, TempId,
};

/// A xorshift generator: the same numbers on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A value at a limit more often than not.
    fn value(&mut self) -> u64 {
        let near = self.one_of(&[0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256]);
        let power = 1u64 << self.below(64);
        match self.below(8) {
            0 => near,
            1 => near.wrapping_neg(),
            2 => power,
            3 => power.wrapping_neg(),
            4 => power - 1,
            5 => self.next() >> self.below(64),
            6 => self.next() as u32 as u64,
            _ => self.one_of(&[0xff, 0xffff, 0xffff_ffff, 0x7fff_ffff, 0x8000_0000, 1 << 63]),
        }
    }
}

const LOADS: [Op; 6] = [Op::Loadsb, Op::Loadub, Op::Loadsh, Op::Loaduh, Op::Loadsw, Op::Loaduw];

/// Integer ops, those that passes make included.
fn ops() -> Vec<Op> {
    let integer = |&op: &Op| {
        let fits = |want: Want| match want {
            Want::A(class) => class.is_int(),
            Want::Nothing => true,
            Want::Invalid | Want::Address | Want::Number => false,
        };
        op.is_pure() && op.row().result && op.wants(Class::L).iter().all(|&w| fits(w))
    };
    let mut ops: Vec<Op> = Op::ALL.iter().copied().filter(integer).collect();
    // What rules are mostly about, more often.
    for _ in 0..6 {
        ops.extend([
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::And,
            Op::Or,
            Op::Xor,
            Op::Shl,
            Op::Shr,
            Op::Sar,
        ]);
        ops.extend([Op::Neg, Op::Extsw, Op::Extub, Op::Ceqw, Op::Cnew, Op::Cnel, Op::Csltl]);
    }
    ops
}

/// A function of `n` instructions over two parameters of each class, and loads of the fifth.
fn generate(random: &mut Random, ops: &[Op], n: usize) -> Function {
    let mut module = Module::default();
    let mut f = Function::new(module.symbols.intern(b"f"));
    f.ret = Some(AbiType::Base(Class::L));
    for class in [Class::W, Class::W, Class::L, Class::L, Class::L] {
        let to = f.new_temp(class);
        f.params.push(Param { ty: AbiType::Base(class), to });
    }
    let mut block = Block::new(Jump::Ret(Ref::NONE));
    for _ in 0..n {
        let (op, class) = loop {
            let op = if random.below(8) == 0 { random.one_of(&LOADS) } else { random.one_of(ops) };
            let class = random.one_of(&[Class::W, Class::L]);
            if op.wants(class)[0] != Want::Invalid {
                break (op, class);
            }
        };
        let mut args = Vec::new();
        for want in op.wants(class) {
            args.push(match *want {
                Want::A(class) => operand(random, &mut f, class),
                Want::Address => f.params[4].to.into(),
                Want::Nothing => continue,
                Want::Invalid | Want::Number => unreachable!(),
            });
        }
        let to = f.new_temp(class);
        block.insts.push(Inst::new(op, class, to, &args));
    }
    let last = TempId::new(f.temps.len() - 1);
    block.jump = Jump::Ret(last.into());
    f.ret = Some(AbiType::Base(f.temps[last].class));
    f.blocks.push(block);
    f
}

fn operand(random: &mut Random, f: &mut Function, class: Class) -> Ref {
    if random.below(3) == 0 {
        return f.int(random.value() as i64);
    }
    loop {
        // Late temporaries more often, so that expressions grow deep.
        let n = f.temps.len();
        let back = if random.below(2) == 0 { random.below(n.min(3)) } else { random.below(n) };
        let t = TempId::new(n - 1 - back);
        if f.temps[t].class == class || class == Class::W {
            return t.into();
        }
    }
}

/// The values of all temporaries, or `None` where a result is not defined.
fn evaluate(f: &Function, inputs: &[u64], memory: u64) -> Option<IndexVec<TempId, u64>> {
    let mut values = IndexVec::filled(0, f.temps.len());
    for (param, &value) in f.params.iter().zip(inputs) {
        values[param.to] = value & mask(param.ty.class());
    }
    for inst in &f.blocks[f.entry()].insts {
        let mut args = [0; 3];
        for (value, &r) in args.iter_mut().zip(inst.operands()) {
            *value = read(f, &values, r);
        }
        let value = match inst.op.load_size() {
            Some(_) => loaded(inst.op, inst.class, memory),
            None => eval(inst.op, inst.class, args)?,
        };
        values[inst.to.expect("a pure op has a result")] = value;
    }
    Some(values)
}

fn read(f: &Function, values: &IndexVec<TempId, u64>, r: Ref) -> u64 {
    r.as_temp().map_or_else(|| f.bits(r).expect("a number"), |t| values[t])
}

fn show(f: &Function) -> String {
    let lines = f.blocks[f.entry()].insts.iter();
    let mut text: Vec<String> = lines
        .map(|i| {
            format!("{:?} ={} {} {:?}", i.to.unwrap(), i.class.letter(), i.op.name(), i.operands())
        })
        .collect();
    text.push(format!("{:?}", f.blocks[f.entry()].jump));
    text.join("\n")
}

fn check(before: &Function, random: &mut Random) {
    let entry = before.entry();
    let mut known = IndexVec::filled(Bits::UNKNOWN, before.temps.len());
    for inst in &before.blocks[entry].insts {
        known[inst.to.expect("a pure op has a result")] = Bits::of(before, &known, inst);
    }
    let mut after = before.clone();
    fold(&mut after, &[entry]);
    for _ in 0..8 {
        let inputs: Vec<u64> = (0..5).map(|_| random.value()).collect();
        let memory = random.value();
        let Some(values) = evaluate(before, &inputs, memory) else { continue };
        for (t, &Temp { class, .. }) in before.temps.enumerate() {
            check_bits(known[t], values[t], class, &show(before), t);
        }
        let folded = evaluate(&after, &inputs, memory).expect("no trap that was not there");
        let wanted = read(before, &values, before.blocks[entry].jump.arg());
        let got = read(&after, &folded, after.blocks[entry].jump.arg());
        let class = before.ret.expect("it returns a value").class();
        let mask = mask(class);
        assert_eq!(
            wanted & mask,
            got & mask,
            "inputs {inputs:x?} memory {memory:x}\n{}\n-- became --\n{}",
            show(before),
            show(&after)
        );
    }
}

fn check_bits(known: Bits, value: u64, class: Class, text: &str, t: TempId) {
    let shift = 64 - class.size() * 8;
    let signed = (value << shift) as i64 >> shift;
    let signs = (if signed < 0 { signed.leading_ones() } else { signed.leading_zeros() }) - shift;
    let right = value & known.zeros == 0 && !value & known.ones == 0 && signs >= known.signs;
    let (least, greatest) = known.signed_range(class);
    assert!(
        right && least <= signed && signed <= greatest,
        "{t:?} = {value:#x} but {known:x?}\n{text}"
    );
}

#[test]
fn folding_changes_no_value() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let ops = ops();
    for round in 0..4_000 {
        let f = generate(&mut random, &ops, 1 + round % 9);
        check(&f, &mut random);
    }
}
