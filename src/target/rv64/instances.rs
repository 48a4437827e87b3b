//! For tests: every final row of the table with operands of every kind that it takes.

use super::insts::{self, Row, Shape, mark, part};
use super::regs::{RA, S0, SP, T6, TP, ZERO, a, fa};
use crate::index::Index;
use crate::ir::{Access, BlockId, Module, SymbolId};
use crate::target::machine::{MOp, PReg, op};
use crate::target::{Arg, Instruction, Named};
use smallvec::SmallVec;

/// A module whose symbol 0 is a plain one, 1 has the name of a register, and 2 is quoted.
pub fn module() -> Module {
    let mut module = Module::default();
    for name in [b"sym".as_slice(), b"t1", b"\"a b\""] {
        module.symbols.intern(name);
    }
    module
}

pub fn instruction(row: MOp, cond: u8, args: &[Arg]) -> Instruction {
    Instruction { op: row, size: 8, cond, args: SmallVec::from_slice(args) }
}

/// The part of an address that `kind` selects.
pub fn part(of: Named, offset: i64, kind: u8) -> Arg {
    Arg::Part { of, offset, kind }
}

const INTS: [PReg; 7] = [a(0), a(5), S0, RA, SP, T6, PReg::int(5)];
const FLOATS: [PReg; 4] = [fa(0), fa(5), PReg::float(0), PReg::float(31)];

/// Which operands of a row are floats: the destination, the others.
fn floats(row: &Row) -> (bool, bool) {
    let Some(rest) = row.mnemonic.strip_prefix('f') else { return (false, false) };
    let parts: Vec<&str> = rest.split('.').collect();
    let float = |part: &str| matches!(part, "s" | "d");
    match parts[..] {
        ["cvt", to, from] => (float(to), float(from)),
        ["mv", "x", _] => (false, true),
        ["mv", _, "x"] => (true, false),
        ["eq" | "lt" | "le", _] => (false, true),
        _ => (true, true),
    }
}

/// Registers for an operand, the first of them last if `n` is odd, so that pairs differ.
fn registers(float: bool, n: usize) -> impl Iterator<Item = Arg> {
    let list: &[PReg] = if float { &FLOATS } else { &INTS };
    (0..list.len()).map(move |i| Arg::Reg(list[(i + n) % list.len()]))
}

/// Immediates of a row that has them in place of a second operand.
fn immediates(row: MOp) -> &'static [i64] {
    match row {
        insts::SLLIW | insts::SRLIW | insts::SRAIW | insts::RORIW => &[1, 12, 31],
        insts::SLLI | insts::SRLI | insts::SRAI | insts::RORI | insts::SLLI_UW => &[1, 31, 32, 63],
        insts::BCLRI | insts::BEXTI | insts::BINVI | insts::BSETI => &[0, 12, 63],
        insts::ADDI => &[-2048, -512, -1, 1, 16, 31, 32, 496, 508, 1020, 2047],
        _ => &[-2048, -32, -1, 1, 31, 32, 2047],
    }
}

/// Every final row, in several instances.
pub fn instances() -> Vec<Instruction> {
    let mut all = Vec::new();
    for (n, row) in insts::ROWS.iter().enumerate() {
        let number = op::FIRST_TARGET + n as MOp;
        let (d_float, float) = floats(row);
        let mut add = |args: &[Arg]| all.push(instruction(number, 0, args));
        match row.shape {
            Shape::Pseudo => {}
            Shape::None => add(&[]),
            Shape::R => {
                for (i, d) in registers(d_float, 0).enumerate() {
                    for (x, y) in registers(float, i % 2).zip(registers(float, i)) {
                        add(&[d, x, y]);
                    }
                }
            }
            Shape::Tprel => {
                let last = part(symbol(0), 4, part::TPREL_ADD);
                add(&[Arg::Reg(a(0)), Arg::Reg(a(0)), Arg::Reg(TP), last]);
            }
            Shape::I => {
                for (d, x) in registers(false, 0).zip(registers(false, 0)) {
                    for &imm in immediates(number) {
                        add(&[d, x, Arg::Imm(imm)]);
                        add(&[Arg::Reg(a(1)), x, Arg::Imm(imm)]);
                    }
                }
                if number == insts::ADDI {
                    add(&[Arg::Reg(a(1)), Arg::Reg(a(2)), part(symbol(1), -8, part::TPREL_LO)]);
                }
            }
            Shape::U => upper(number, &mut add),
            Shape::Unary | Shape::Truncate => {
                for i in 0..2 {
                    for (d, x) in registers(d_float, 0).zip(registers(float, i)) {
                        add(&[d, x]);
                    }
                }
            }
            Shape::Load | Shape::Store => memory(row, float, &mut add),
            Shape::Branch => {
                for (x, y) in registers(false, 0).zip(registers(false, 1)) {
                    add(&[x, y, block()]);
                }
                add(&[Arg::Reg(a(0)), Arg::Reg(ZERO), block()]);
            }
            Shape::BranchZero => registers(false, 0).for_each(|x| add(&[x, block()])),
            Shape::Jump => add(&[block()]),
            Shape::JumpFar => add(&[block(), Arg::Reg(T6)]),
            Shape::Call => {
                for (n, access) in [(0, Access::Direct), (1, Access::Direct), (1, Access::Extern)] {
                    add(&[Arg::Symbol(SymbolId::new(n), access, 0)]);
                }
            }
            Shape::CallReg => registers(false, 0).for_each(|x| add(&[x])),
        }
    }
    all.push(instruction(insts::MARK_BACK, 0, &[]));
    all.push(instruction(insts::BNE, mark::BACK, &[Arg::Reg(a(0)), Arg::Reg(a(1))]));
    all.push(instruction(insts::BLTZ, mark::AHEAD, &[Arg::Reg(a(0))]));
    all.push(instruction(insts::MARK_AHEAD, 0, &[]));
    all
}

pub fn symbol(n: usize) -> Named {
    Named::Symbol(SymbolId::new(n), Access::Direct)
}

fn block() -> Arg {
    Arg::Block(BlockId::new(7))
}

fn upper(row: MOp, add: &mut impl FnMut(&[Arg])) {
    let d = Arg::Reg(a(3));
    match row {
        insts::AUIPC => {
            for n in 0..3 {
                for kind in [part::PCREL_HI, part::GOT_HI, part::TLS_IE_HI] {
                    add(&[d, part(symbol(n), 0, kind)]);
                }
                add(&[d, part(symbol(n), -2048, part::PCREL_HI)]);
            }
            add(&[d, part(Named::Pool(0x3f80_0000, 4), 0, part::PCREL_HI)]);
        }
        insts::LUI => {
            for imm in [1, 31, 32, 0xf_ffe0, 0xf_ffff] {
                add(&[d, Arg::Imm(imm)]);
            }
            add(&[d, part(symbol(0), 12, part::TPREL_HI)]);
        }
        _ => {
            for imm in [-2048, -33, -32, 0, 31, 32, 2047] {
                add(&[d, Arg::Imm(imm)]);
            }
        }
    }
}

fn memory(row: &Row, float: bool, add: &mut impl FnMut(&[Arg])) {
    for (x, base) in registers(float, 0).zip(registers(false, 1)) {
        for disp in [-2048, -1, 0, 4, 8, 124, 128, 248, 256, 504, 512, 2047] {
            add(&[x, Arg::Imm(disp), base]);
            add(&[x, Arg::Imm(disp), Arg::Reg(a(4))]);
        }
        add(&[x, part(symbol(0), 0, part::PCREL_LO), base]);
        add(&[x, part(symbol(0), 8, part::TPREL_LO), base]);
        if row.shape == Shape::Store && !float {
            add(&[Arg::Reg(ZERO), Arg::Imm(8), base]);
        }
    }
}
