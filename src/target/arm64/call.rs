//! Calls and variadic functions: what the shared [`call`](crate::target::call) leaves to the target.

use super::abi::REGISTERS;
use super::insts;
use super::isel::Isel;
use super::regs::{v, x};
use crate::ir::{AbiType, Access, Class, Inst, Ref, Slot};
use crate::target::address::Parts;
use crate::target::lower::{read, write_in};
use crate::target::machine::{Address, Bank, Base, Operand, VReg};
use crate::target::select::{Select, Stores};
use smallvec::SmallVec;

/// A `va_list` (AAPCS64, appendix B): the next stack argument, the ends of the saved integer and
/// vector registers, and how far before them the next of each is.
const GR_TOP: u64 = 8;
const VR_TOP: u64 = 16;
pub const GR_OFFSET: i64 = 24;
pub const VR_OFFSET: i64 = 28;

impl Isel<'_> {
    /// A scalar argument or result in a register. AAPCS64 leaves the bits above small ones
    /// unspecified; Apple has them extended to 32 bits by who passes them.
    pub fn extended_argument(&mut self, value: Ref, ty: AbiType) -> VReg {
        let (size, signed) = match ty {
            AbiType::Byte { signed } => (1, signed),
            AbiType::Half { signed } => (2, signed),
            AbiType::Base(class) => return self.value(value, class),
            AbiType::Aggregate(_) => unreachable!("not a scalar"),
        };
        if let Some(value) = self.b.extended_constant(value, size, signed) {
            return self.int_constant(value, 4);
        }
        if !self.is_apple() || self.b.is_extended(value, size, signed) {
            return self.value(value, Class::W);
        }
        let to = self.b.int_reg(4);
        if signed {
            self.sign_extend(value, size, Class::W, to);
        } else {
            self.zero_extend(value, size, to);
        }
        to
    }

    pub fn emit_call(&mut self, callee: Ref, mut operands: SmallVec<[Operand; 16]>) {
        let callee = self.b.resolve(callee);
        let clobbers = self.b.clobbers(self.b.convention.registers.caller_saved);
        if let Some((symbol, access, disp)) = self.b.f.symbol_of(callee)
            && (access == Access::Direct || access == Access::Extern && disp == 0)
            && disp % 4 == 0
            && i32::try_from(disp).is_ok()
        {
            let base = Base::Symbol(symbol, access);
            let id = self.b.address(Address { base, index: None, scale: 1, disp });
            let inst = self.b.push(insts::CALL, 8, &operands);
            inst.address = Some(id);
            inst.clobbers = clobbers;
            return;
        }
        let reg = self.value(callee, Class::L);
        operands.push(read(reg));
        let number = operands.len() as i64 - 1;
        let inst = self.b.push(insts::CALL_R, 8, &operands);
        inst.imm = number;
        inst.clobbers = clobbers;
    }

    /// Bytes of the area for the registers that no named parameter took: vector registers, then
    /// integer registers.
    fn save_area(&self) -> (u64, u64) {
        let floats = 16 * (REGISTERS - self.b.params.floats) as u64;
        (floats, 8 * (REGISTERS - self.b.params.ints) as u64)
    }

    pub fn start_list(&mut self, inst: &Inst) {
        let list = self.parts(inst.args[0]);
        let stack = Parts::incoming(self.b.params.stack);
        if self.is_apple() {
            self.store_address(list, stack);
            return;
        }
        let (floats, ints) = self.save_area();
        let area = match self.b.save_area {
            Some(area) => area,
            None => {
                let size = floats + ints;
                let area = self.b.code.slots.push(Slot { size, align: 16, name: None });
                *self.b.save_area.insert(area)
            }
        };
        self.store_address(list, stack);
        self.store_address(list.plus(GR_TOP), Parts::slot(area).plus(floats + ints));
        self.store_address(list.plus(VR_TOP), Parts::slot(area).plus(floats));
        for (at, bytes) in [(GR_OFFSET, ints), (VR_OFFSET, floats)] {
            let reg = self.int_constant(-(bytes as i64), 4);
            self.store_reg(list.plus(at as u64), reg, 4);
        }
    }

    fn store_address(&mut self, to: Parts, address: Parts) {
        let reg = self.b.constant_reg(Bank::Int, 8);
        self.lea(reg, address);
        self.store_reg(to, reg, 8);
    }

    /// A variadic function writes the argument registers that no named parameter took into its
    /// save area, vector registers whole.
    pub fn save_argument_registers(
        &mut self,
        defs: &mut SmallVec<[Operand; 16]>,
        stores: &mut Stores,
    ) {
        let Some(area) = self.b.save_area else { return };
        let (floats, _) = self.save_area();
        let area = Parts::slot(area);
        for (n, at) in (self.b.params.floats..REGISTERS).map(|n| v(n as u8)).enumerate() {
            let reg = self.b.new_reg(Bank::Float, 8);
            self.saved.push((reg, at));
            defs.push(write_in(reg, at));
            stores.push((area.plus(16 * n as u64), reg, 16));
        }
        for (n, at) in (self.b.params.ints..REGISTERS).map(|n| x(n as u8)).enumerate() {
            let reg = self.b.int_reg(8);
            defs.push(write_in(reg, at));
            stores.push((area.plus(floats + 8 * n as u64), reg, 8));
        }
    }
}
