//! Every row of the table with the operands that it takes, the odd ones included: what tests print,
//! assemble and encode.

use super::codes::{CODES, Code};
use super::regs::*;
use crate::index::Index;
use crate::ir::{Access, BlockId, Module, SymbolId};
use crate::target::machine::PReg;
use crate::target::{Arg, Instruction, Memory, MemoryBase};
use smallvec::SmallVec;

/// A module with the two symbols that the operands name.
pub fn module() -> Module {
    let mut module = Module::default();
    module.symbols.intern(b"x");
    module.symbols.intern(b"\"a b\"");
    module
}

pub fn instruction(code: Code, size: u8, cond: u8, args: &[Arg]) -> Instruction {
    Instruction { op: code.number(), size, cond, args: SmallVec::from(args) }
}

pub fn memory(base: MemoryBase, index: Option<PReg>, scale: u8, disp: i64) -> Arg {
    Arg::Memory(Memory { base, index, scale, disp })
}

fn ints() -> Vec<Arg> {
    (0..16).map(|n| Arg::Reg(PReg::int(n))).collect()
}

fn floats() -> Vec<Arg> {
    [0, 4, 7, 8, 13, 15].map(|n| Arg::Reg(xmm(n))).to_vec()
}

/// Memory operands: absolute, constants, every base, index and scale, every reach of a
/// displacement, every access of a symbol.
fn memories() -> Vec<Arg> {
    let symbol = |n, access| MemoryBase::Symbol(SymbolId::new(n), access);
    let mut all = vec![
        memory(MemoryBase::None, None, 1, 4096),
        memory(MemoryBase::None, Some(RBP), 8, -1),
        memory(MemoryBase::None, Some(R12), 2, 4),
        memory(MemoryBase::None, Some(RAX), 1, 0),
        memory(MemoryBase::Pool(1 << 63, 16), None, 1, 0),
        memory(MemoryBase::Pool(0x3f80_0000, 4), None, 1, 0),
    ];
    for base in [RAX, RSP, RBP, R8, R12, R13] {
        for disp in [0, 127, 128, -128, -129, i64::from(i32::MAX), i64::from(i32::MIN)] {
            all.push(memory(MemoryBase::Reg(base), None, 1, disp));
            all.push(memory(MemoryBase::Reg(base), Some(R12), 1, disp));
            all.push(memory(MemoryBase::Reg(base), Some(RBP), 8, disp));
        }
    }
    for index in (0..16).filter(|&n| n != RSP.number()) {
        all.push(memory(MemoryBase::Reg(RCX), Some(PReg::int(index)), 4, 0));
        all.push(memory(MemoryBase::Reg(PReg::int(index)), None, 1, 1));
    }
    for n in [0, 1] {
        all.push(memory(symbol(n, Access::Direct), None, 1, 0));
        all.push(memory(symbol(n, Access::Direct), None, 1, -8));
        all.push(memory(symbol(n, Access::Extern), None, 1, 0));
        all.push(memory(symbol(n, Access::Thread), None, 1, 8));
        for index in [RCX, R12, R13] {
            all.push(memory(symbol(n, Access::Thread), Some(index), 1, 8));
            all.push(memory(symbol(n, Access::Thread), Some(index), 4, 0));
            all.push(memory(symbol(n, Access::Direct), Some(index), 1, 8));
            all.push(memory(symbol(n, Access::Direct), Some(index), 2, 0));
        }
    }
    all
}

/// All of them.
pub fn instances() -> Vec<Instruction> {
    let mut all = Vec::new();
    for row in CODES {
        let put = &mut |size, cond, args: &[Arg]| {
            all.push(instruction(row.code, size, cond, args));
        };
        of_row(row.code, put);
    }
    // The assembler allows such a cell with these two only.
    for n in [0, 1] {
        let m = memory(MemoryBase::Symbol(SymbolId::new(n), Access::ExternThread), None, 1, 0);
        for d in [RAX, R15] {
            all.push(instruction(Code::Mov, 8, 0, &[Arg::Reg(d), m]));
            all.push(instruction(Code::Add, 8, 0, &[Arg::Reg(d), m]));
        }
    }
    all
}

type Put<'a> = &'a mut dyn FnMut(u8, u8, &[Arg]);

fn of_row(code: Code, put: Put<'_>) {
    use Code::*;
    let ints = ints();
    let cell = memory(MemoryBase::Reg(RBP), Some(R12), 8, 127);
    match code {
        Mov | Add | Or | And | Sub | Xor | Cmp | Test => {
            [1, 2, 4, 8].into_iter().for_each(|n| two(code, n, put));
        }
        Movabs => ints.iter().for_each(|&d| {
            [0, -1, i64::MIN].into_iter().for_each(|n| put(8, 0, &[d, Arg::Imm(n)]));
        }),
        Movzx | Movsx4 | Movsx8 => {
            for size in [1, 2, 4].into_iter().filter(|&n| n < 4 || code == Movsx8) {
                sources(&ints).iter().for_each(|&s| put(size, 0, &[ints[1], s]));
                sources(&ints).iter().for_each(|&s| put(size, 0, &[ints[15], s]));
            }
        }
        Lea => {
            for m in memories().into_iter().skip(1) {
                put(8, 0, &[ints[0], m]);
                if matches!(m, Arg::Memory(m) if matches!(m.base, MemoryBase::Reg(_))) {
                    put(4, 0, &[ints[15], m]);
                }
            }
        }
        Xchg => pairs(&ints, &mut |a, b| {
            if a != b {
                put(8, 0, &[a, b]);
            }
        }),
        Chkstk => put(8, 0, &[]),
        Push | Pop | MovFs | MovTlsIndex | MovTlsTable => {
            ints.iter().for_each(|&a| put(8, 0, &[a]))
        }
        Inc | Dec | Neg | Not | Mul | Imul1 | Div | Idiv => {
            [1, 2, 4, 8]
                .into_iter()
                .for_each(|n| sources(&ints).iter().for_each(|&a| put(n, 0, &[a])));
        }
        Bswap => [4, 8].into_iter().for_each(|n| ints.iter().for_each(|&a| put(n, 0, &[a]))),
        Movbe => memories().into_iter().for_each(|m| {
            [2, 4, 8].into_iter().for_each(|n| put(n, 0, &[ints[0], m]));
            [2, 4, 8].into_iter().for_each(|n| put(n, 0, &[m, ints[15]]));
        }),
        Popcnt => [4, 8].into_iter().for_each(|n| to_register(n, 0, &ints, &ints, put)),
        Shlx | Shrx | Sarx => sources(&ints).iter().for_each(|&s| {
            [4, 8].into_iter().for_each(|n| put(n, 0, &[ints[0], s, ints[9]]));
            [4, 8].into_iter().for_each(|n| put(n, 0, &[ints[12], s, ints[6]]));
        }),
        Rorx => sources(&ints).iter().for_each(|&s| {
            [4, 8].into_iter().for_each(|n| put(n, 0, &[ints[9], s, Arg::Imm(31)]));
        }),
        Imul => [4, 8].into_iter().for_each(|size| {
            to_register(size, 0, &ints, &ints, put);
            for s in sources(&ints) {
                for n in [0, -128, 127, 128, -129, i64::from(i32::MAX), i64::from(i32::MIN)] {
                    put(size, 0, &[ints[9], s, Arg::Imm(n)]);
                }
            }
        }),
        Shl | Shr | Sar | Rol | Ror => [1, 2, 4, 8].into_iter().for_each(|size| {
            for a in sources(&ints) {
                put(size, 0, &[a, Arg::Reg(RCX)]);
                [0, 1, 2, 31, 63].into_iter().for_each(|n| put(size, 0, &[a, Arg::Imm(n)]));
            }
        }),
        Cwtl | Cltq | Cltd | Cqto | Ret | Leave | Ud2 | Endbr64 | RepMovsb | RepMovsq => {
            put(8, 0, &[]);
        }
        Jcc => (0..16).for_each(|c| put(8, c, &[Arg::Block(BlockId::new(0))])),
        Set => (0..16).for_each(|c| sources(&ints).iter().for_each(|&a| put(1, c, &[a]))),
        Cmov => (0..16).for_each(|c| {
            pairs(&ints, &mut |a, b| put(4, c, &[a, b]));
            put(8, c, &[ints[8], cell]);
        }),
        Jmp => put(8, 0, &[Arg::Block(BlockId::new(0))]),
        Call => [0, 1].into_iter().map(SymbolId::new).for_each(|x| {
            put(8, 0, &[Arg::Symbol(x, Access::Direct, 0)]);
            put(8, 0, &[Arg::Symbol(x, Access::Direct, 4)]);
            put(8, 0, &[Arg::Symbol(x, Access::Extern, 0)]);
        }),
        CallInd => sources(&ints).iter().for_each(|&a| put(8, 0, &[a])),
        Movaps | Movups | Movs | Adds | Subs | Muls | Divs | Ucomis | Andps | Xorps | Cvtsi2ss
        | Cvtsi2sd | Cvttss2si | Cvttsd2si | Cvtss2sd | Cvtsd2ss | Movd => floating(code, put),
    }
}

fn pairs(registers: &[Arg], put: &mut dyn FnMut(Arg, Arg)) {
    registers.iter().for_each(|&a| registers.iter().for_each(|&b| put(a, b)));
}

/// Registers and memory.
fn sources(registers: &[Arg]) -> Vec<Arg> {
    [registers, &memories()].concat()
}

/// Every pair of registers, and memory into some.
fn to_register(size: u8, cond: u8, to: &[Arg], from: &[Arg], put: Put<'_>) {
    for &d in to {
        from.iter().for_each(|&s| put(size, cond, &[d, s]));
    }
    for m in memories() {
        put(size, cond, &[to[0], m]);
        put(size, cond, &[to[to.len() - 1], m]);
    }
}

/// Two integer operands of any kind.
fn two(code: Code, size: u8, put: Put<'_>) {
    let ints = ints();
    let cells = [memory(MemoryBase::Reg(RBP), Some(R12), 8, 127), memories().pop().unwrap()];
    pairs(&ints, &mut |a, b| put(size, 0, &[a, b]));
    for m in memories() {
        for r in [ints[0], ints[6], ints[9]] {
            put(size, 0, &[m, r]);
            if code != Code::Test {
                put(size, 0, &[r, m]);
            }
        }
    }
    let mut values = vec![0, 1, -1, 127, -128];
    if size >= 2 {
        values.extend([128, -129, 0x7fff, -0x8000]);
    }
    if size >= 4 {
        values.extend([0x8000, 0x7fff_ffff, -0x8000_0000]);
    }
    for n in values {
        ints.iter().chain(&cells).for_each(|&a| put(size, 0, &[a, Arg::Imm(n)]));
    }
    // What code and data need of the linker, and an immediate behind it.
    for access in [Access::Direct, Access::Extern, Access::Thread] {
        let m = memory(MemoryBase::Symbol(SymbolId::new(0), access), None, 1, 0);
        put(size, 0, &[m, Arg::Imm(1)]);
        put(size, 0, &[m, Arg::Imm(if size == 1 { 2 } else { 0x1234 })]);
    }
}

fn floating(code: Code, put: Put<'_>) {
    use Code::*;
    let (ints, floats) = (ints(), floats());
    for size in [4, 8] {
        match code {
            Cvtsi2ss | Cvtsi2sd => to_register(size, 0, &floats, &ints, put),
            Cvttss2si | Cvttsd2si => to_register(size, 0, &ints, &floats, put),
            Movd => {
                to_register(size, 0, &floats, &ints, put);
                ints.iter().for_each(|&d| floats.iter().for_each(|&s| put(size, 0, &[d, s])));
                memories().iter().for_each(|&m| put(size, 0, &[m, floats[3]]));
            }
            Movaps => pairs(&floats, &mut |a, b| put(size, 0, &[a, b])),
            Movs | Movups => {
                for m in memories() {
                    put(size, 0, &[floats[3], m]);
                    put(size, 0, &[m, floats[2]]);
                }
            }
            _ => to_register(size, 0, &floats, &floats, put),
        }
    }
}
