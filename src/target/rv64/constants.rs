//! Constants and addresses of symbols in registers.

use super::insts;
use super::isel::Isel;
use super::materialise::{LIMIT, fits12, low12, steps};
use crate::ir::{Access, Class, SymbolId};
use crate::target::address::{Parts, Term};
use crate::target::constants::Constant;
use crate::target::lower::write;
use crate::target::machine::{Address, Bank, Base, VReg};

/// Symbols may be this far away from the byte an instruction names: the linker sees offsets of at
/// most 2 GiB from the code to the result, and the program itself takes its part of that.
pub const SYMBOL_REACH: i64 = 1 << 30;

/// A float that is made of an integer: in how many instructions, the move to the float register
/// included.
pub fn float_steps(bits: u64, size: u8) -> Option<FloatSteps> {
    if bits == 0 {
        return Some(FloatSteps::Zero);
    }
    if size == 4 {
        return (steps(i64::from(bits as i32), false).len() == 1).then_some(FloatSteps::Bits);
    }
    let value = f64::from_bits(bits);
    let int = value as i64;
    let exact = (int as f64).to_bits() == bits;
    if exact && fits12(int) {
        return Some(FloatSteps::Integer(int));
    }
    (steps(bits as i64, false).len() == 1).then_some(FloatSteps::Bits)
}

/// How a float is made of an integer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FloatSteps {
    /// The zero register's bits.
    Zero,
    /// Its bits.
    Bits,
    /// A double, by conversion of this.
    Integer(i64),
}

impl Isel<'_> {
    /// `Select::constant_into`
    pub fn make_constant(&mut self, reg: VReg, constant: Constant) {
        match constant {
            Constant::Slot(slot) => self.make_address(reg, Parts::slot(slot)),
            Constant::Symbol(symbol, access, offset) => {
                self.symbol_into(reg, symbol, access, offset);
            }
            Constant::Number(bits, class) if class.is_int() => {
                let value = if class == Class::W { i64::from(bits as i32) } else { bits as i64 };
                if steps(value, self.features.zbs).len() > LIMIT {
                    self.push_address(insts::LD, &[write(reg)], pool(bits, 8));
                } else {
                    self.b.push(insts::LI, 8, &[write(reg)]).imm = value;
                }
            }
            Constant::Number(bits, class) => {
                let size = class.size() as u8;
                if float_steps(bits, size).is_some() {
                    self.b.push(insts::FLI, size, &[write(reg)]).imm = bits as i64;
                } else {
                    let row = if size == 4 { insts::FLW } else { insts::FLD };
                    self.push_address(row, &[write(reg)], pool(bits, size));
                }
            }
        }
    }

    /// Puts the address of a symbol into `reg`. If that takes another register, `reg` cannot be
    /// made again elsewhere.
    fn symbol_into(&mut self, reg: VReg, symbol: SymbolId, access: Access, offset: i64) {
        let near = (-SYMBOL_REACH..SYMBOL_REACH).contains(&offset);
        let in_place = near && matches!(access, Access::Direct | Access::Thread);
        let disp = if in_place { offset } else { 0 };
        let rest = offset - disp;
        let to = if rest == 0 { reg } else { self.b.constant_reg(Bank::Int, 8) };
        let base = Base::Symbol(symbol, access);
        self.push_address(insts::LEA, &[write(to)], Address { base, index: None, scale: 1, disp });
        if rest != 0 {
            self.b.code.vregs[reg].rematerialise = false;
            self.make_address(reg, Parts { disp: rest, ..Parts::term(Term::Reg(to)) });
        }
    }

    /// An address without a register in it, or its base in a register that an outer loop has made:
    /// of a symbol's address the part that does not fit a displacement.
    pub fn near_base(&mut self, parts: Parts) -> Parts {
        let crate::target::address::PartBase::Symbol(symbol, access) = parts.base else {
            return parts;
        };
        let low = low12(parts.disp);
        match self.b.hoist(Constant::Symbol(symbol, access, parts.disp - low)) {
            Some(reg) => Parts { disp: low, ..Parts::reg(reg) },
            None => parts,
        }
    }
}

/// The address of a constant in read-only data.
fn pool(bits: u64, size: u8) -> Address {
    Address { base: Base::Pool(bits, size), index: None, scale: 1, disp: 0 }
}
