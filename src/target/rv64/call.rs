//! Calls and variadic functions: what the shared part of calls does not know.

use super::abi::ARGUMENTS;
use super::insts;
use super::isel::{Isel, is_extended};
use super::regs::a;
use crate::ir::{AbiType, Access, Class, Inst, Ref};
use crate::target::address::Parts;
use crate::target::lower::{read, write_in};
use crate::target::machine::{Address, Base, Operand, VReg};
use crate::target::select::{Select, Stores};
use smallvec::SmallVec;

impl Isel<'_> {
    /// `Select::push_call`
    pub fn emit_call(&mut self, callee: Ref, mut operands: SmallVec<[Operand; 16]>) {
        let callee = self.b.resolve(callee);
        let clobbers = self.b.clobbers(self.b.convention.registers.caller_saved);
        if let Some((symbol, access @ (Access::Direct | Access::Extern), 0)) =
            self.b.f.symbol_of(callee)
        {
            let base = Base::Symbol(symbol, access);
            let address = Address { base, index: None, scale: 1, disp: 0 };
            self.push_address(insts::CALL, &operands, address).clobbers = clobbers;
            return;
        }
        let reg = self.value(callee, Class::L);
        operands.push(read(reg));
        let number = operands.len() as i64 - 1;
        let inst = self.b.push(insts::CALL_REG, 8, &operands);
        inst.imm = number;
        inst.clobbers = clobbers;
    }

    /// "Widened according to the sign of their type up to 32 bits, then sign-extended to XLEN bits."
    pub fn extended_argument(&mut self, value: Ref, ty: AbiType) -> VReg {
        let (size, signed) = match ty {
            AbiType::Byte { signed } => (1, signed),
            AbiType::Half { signed } => (2, signed),
            AbiType::Base(Class::W) => return self.word(value),
            AbiType::Base(class) => return self.value(value, class),
            AbiType::Aggregate(_) => unreachable!("not a scalar"),
        };
        if let Some(value) = self.b.extended_constant(value, size, signed) {
            return self.int_constant(value, 4);
        }
        let value = self.b.resolve(value);
        if is_extended(&self.b, value, size, signed) {
            return self.word(value);
        }
        let from = self.low(value);
        let to = self.b.int_reg(4);
        let bits = 8 * u32::from(size);
        if signed {
            self.sign_extend(from, bits, to);
        } else {
            self.zero_extend(from, bits, to);
        }
        to
    }

    /// Where the variadic arguments begin: at the first register that no named one took, saved
    /// right below the stack arguments so that one pointer walks over both.
    fn list_start(&self) -> Parts {
        let params = &self.b.params;
        let saved = 8 * (ARGUMENTS - params.ints) as i64;
        if saved > 0 {
            Parts { disp: -saved, ..Parts::incoming(0) }
        } else {
            Parts::incoming(params.stack)
        }
    }

    pub fn start_list(&mut self, inst: &Inst) {
        self.b.code.extra = 8 * (ARGUMENTS - self.b.params.ints) as i64;
        let reg = self.b.int_reg(8);
        let start = self.list_start();
        self.make_address(reg, start);
        let list = self.parts(inst.args[0]);
        self.store_reg(list, reg, 8);
    }

    /// Only functions that read their variadic arguments save them. The entry is selected last.
    pub fn save_argument_registers(
        &mut self,
        defs: &mut SmallVec<[Operand; 16]>,
        stores: &mut Stores,
    ) {
        if self.b.code.extra == 0 {
            return;
        }
        let start = self.list_start();
        for (n, number) in (self.b.params.ints..ARGUMENTS).enumerate() {
            let reg = self.b.int_reg(8);
            defs.push(write_in(reg, a(number as u8)));
            stores.push((start.plus(8 * n as u64), reg, 8));
        }
    }
}
