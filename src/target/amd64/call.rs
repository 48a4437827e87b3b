//! Calls and variadic functions: what the shared part of calls does not know.

use super::insts;
use super::isel::Isel;
use super::{abi, microsoft};
use crate::ir::{AbiType, Access, Class, Inst, Ref, Slot};
use crate::target::ObjectFormat;
use crate::target::address::{Operands, Parts, address};
use crate::target::lower::{read, read_in, write_in};
use crate::target::machine::{Address, Bank, Base, Operand, VReg};
use crate::target::select::{Select, Stores};
use smallvec::SmallVec;

/// Bytes of the area where a variadic function saves its registers: six integer registers of 8
/// bytes, eight vector registers of 16.
const SAVE_AREA: u64 = 176;
const SAVE_FLOATS: u64 = 48;

impl Isel<'_> {
    /// `Select::push_call`
    pub fn emit_call(&mut self, callee: Ref, mut operands: SmallVec<[Operand; 16]>) {
        let callee = self.b.resolve(callee);
        let clobbers = self.b.clobbers(self.b.convention.registers.caller_saved);
        if let Some((symbol, access, disp)) = self.b.f.symbol_of(callee)
            && (access == Access::Direct || access == Access::Extern && disp == 0)
            && i32::try_from(disp).is_ok()
        {
            let base = Base::Symbol(symbol, access);
            let address = Address { base, index: None, scale: 1, disp };
            self.push_address(insts::CALL, 8, &operands, address).clobbers = clobbers;
        } else if let Some(parts) = self.memory_operand(callee, 8) {
            let mut all: Operands = SmallVec::from_slice(&operands);
            let address = address(self, parts, &mut all);
            self.push_address(insts::CALL_M, 8, &all, address).clobbers = clobbers;
        } else {
            let reg = self.value(callee, Class::L);
            operands.push(read(reg));
            let number = operands.len() as i64 - 1;
            let inst = self.b.push(insts::CALL_R, 8, &operands);
            inst.imm = number;
            inst.clobbers = clobbers;
        }
    }

    /// An argument in a register, extended to 32 bits if its type is smaller.
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
        if self.b.is_extended(value, size, signed) {
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

    /// A variadic function writes the integer registers that no named parameter took into its save
    /// area, or to their homes in the caller's frame. It knows the vector registers by now, as the entry is selected last.
    pub fn save_argument_registers(
        &mut self,
        defs: &mut SmallVec<[Operand; 16]>,
        stores: &mut Stores,
    ) {
        if self.reads_home {
            for (n, &at) in microsoft::INT_ARGS.iter().enumerate().skip(self.b.params.ints) {
                let reg = self.b.int_reg(8);
                defs.push(write_in(reg, at));
                stores.push((Parts::incoming(8 * n as u64), reg, 8));
            }
        }
        let Some(area) = self.b.save_area else { return };
        for (n, &at) in abi::INT_ARGS.iter().enumerate().skip(self.b.params.ints) {
            let reg = self.b.int_reg(8);
            defs.push(write_in(reg, at));
            stores.push((Parts::slot(area).plus(8 * n as u64), reg, 8));
        }
        if let Some(vectors) = self.vectors
            && let Some(reg) = self.b.wanted(vectors.count)
        {
            defs.push(write_in(reg, abi::VECTOR_COUNT));
        }
        defs.extend(self.saved_vectors.drain(..).map(|(reg, at)| write_in(reg, at)));
    }

    /// The block that saves the vector registers that no named parameter took.
    pub fn save_vectors(&mut self) {
        let Some(area) = self.b.save_area else { return };
        for (n, &at) in abi::FLOAT_ARGS.iter().enumerate().skip(self.b.params.floats) {
            let reg = self.b.new_reg(Bank::Float, 8);
            let to = Parts::slot(area).plus(SAVE_FLOATS + 16 * n as u64);
            self.push_memory(insts::FMOV16_MR, 16, &[read_in(reg, at)], to);
            self.saved_vectors.push((reg, at));
        }
        self.b.flush();
    }

    /// Fills the list: on Windows, the address of the first argument without a name. Elsewhere,
    /// offsets of the next integer and float argument in the save area, address of
    /// the next stack argument, address of the save area.
    pub fn start_list(&mut self, inst: &Inst) {
        let list = self.parts(inst.args[0]);
        if self.format == ObjectFormat::Coff {
            self.reads_home = true;
            let params = &self.b.params;
            // Register arguments have their homes right before the stack arguments.
            let in_registers = params.ints < microsoft::INT_ARGS.len();
            let next = if in_registers { 8 * params.ints as u64 } else { params.stack };
            let reg = self.b.constant_reg(Bank::Int, 8);
            self.lea(reg, 8, Parts::incoming(next));
            self.store_reg(list, reg, 8);
            return;
        }
        let area = *self.b.save_area.get_or_insert_with(|| {
            self.b.code.slots.push(Slot { size: SAVE_AREA, align: 16, name: None })
        });
        let ints = 8 * self.b.params.ints as i64;
        let floats = SAVE_FLOATS as i64 + 16 * self.b.params.floats as i64;
        self.push_memory(insts::MOV_MI, 4, &[], list).imm = ints;
        self.push_memory(insts::MOV_MI, 4, &[], list.plus(4)).imm = floats;
        for (offset, parts) in [(8, Parts::incoming(self.b.params.stack)), (16, Parts::slot(area))]
        {
            let reg = self.b.constant_reg(Bank::Int, 8);
            self.lea(reg, 8, parts);
            self.store_reg(list.plus(offset), reg, 8);
        }
    }
}
