//! Constants and addresses of symbols in registers.

use super::address::SYMBOL_REACH;
use super::insts;
use super::isel::{Isel, pool};
use crate::ir::{Access, SymbolId};
use crate::target::address::{Parts, Term};
use crate::target::constants::Constant;
use crate::target::lower::write;
use crate::target::machine::{Address, Bank, Base, VReg};
use crate::target::select::Select;

impl Isel<'_> {
    /// `Select::constant_into`
    pub fn make_constant(&mut self, reg: VReg, constant: Constant) {
        match constant {
            Constant::Slot(slot) => self.lea(reg, 8, Parts::slot(slot)),
            Constant::Symbol(symbol, access, offset) => {
                self.symbol_into(reg, symbol, access, offset);
            }
            Constant::Number(bits, class) => {
                let size = class.size() as u8;
                if class.is_int() {
                    self.b.push(insts::MOV_RI, size, &[write(reg)]).imm = bits as i64;
                } else if bits == 0 {
                    self.b.push(insts::FZERO, size, &[write(reg)]);
                } else {
                    self.push_address(insts::FMOV_RM, size, &[write(reg)], pool(bits, size));
                }
            }
        }
    }

    /// Puts the address of a symbol into `reg`. If it takes more than one instruction, `reg`
    /// cannot be made again elsewhere.
    fn symbol_into(&mut self, reg: VReg, symbol: SymbolId, access: Access, offset: i64) {
        let near = (-SYMBOL_REACH..SYMBOL_REACH).contains(&offset);
        let whole = match access {
            Access::Direct | Access::Thread => near,
            Access::Extern => offset == 0,
            Access::ExternThread => false,
        };
        let to = if whole { reg } else { self.b.constant_reg(Bank::Int, 8) };
        let in_place = near && matches!(access, Access::Direct | Access::Thread);
        let disp = if in_place { offset } else { 0 };
        let row = match access {
            Access::Direct => insts::LEA,
            Access::Thread => insts::LEA_THREAD,
            Access::Extern | Access::ExternThread => insts::MOV_RM,
        };
        let base = Base::Symbol(symbol, access);
        self.push_address(row, 8, &[write(to)], Address { base, index: None, scale: 1, disp });
        if whole {
            return;
        }
        self.b.code.vregs[reg].rematerialise = false;
        let mut parts = Parts::term(Term::Reg(to));
        if access == Access::ExternThread {
            let thread = self.b.constant_reg(Bank::Int, 8);
            self.b.push(insts::MOV_THREAD, 8, &[write(thread)]);
            parts.index = Some(Term::Reg(thread));
        }
        let rest = offset - disp;
        if i32::try_from(rest).is_ok() {
            self.lea(reg, 8, parts.plus(rest as u64));
            return;
        }
        if parts.index.is_some() {
            let sum = self.b.int_reg(8);
            self.lea(sum, 8, parts);
            parts = Parts::term(Term::Reg(sum));
        }
        let far = self.int_constant(rest, 8);
        self.lea(reg, 8, Parts { index: Some(Term::Reg(far)), ..parts });
    }
}
