//! Constants and addresses of symbols in registers.

use super::address::SYMBOL_REACH;
use super::insts;
use super::isel::{Isel, pool};
use super::regs::{RAX, RDI, TLV_CLOBBERS};
use crate::ir::{Access, SymbolId};
use crate::target::ObjectFormat;
use crate::target::address::{Parts, Term};
use crate::target::constants::Constant;
use crate::target::lower::{read, read_in, write, write_in};
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
        let thread = matches!(access, Access::Thread | Access::ExternThread);
        match self.format {
            ObjectFormat::MachO if thread => return self.thread_variable_into(reg, symbol, offset),
            ObjectFormat::Coff if thread => return self.thread_section_into(reg, symbol, offset),
            ObjectFormat::Elf | ObjectFormat::MachO | ObjectFormat::Coff => {}
        }
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
        self.offset_into(reg, parts, offset - disp);
    }

    /// Puts the sum of an address and an offset of any size into a register.
    fn offset_into(&mut self, reg: VReg, mut parts: Parts, rest: i64) {
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

    /// The address of a thread-local of Mach-O: the function that its descriptor names is given the
    /// descriptor in rdi and returns it in rax.
    fn thread_variable_into(&mut self, reg: VReg, symbol: SymbolId, offset: i64) {
        self.b.code.vregs[reg].rematerialise = false;
        self.b.code.calls = true;
        let descriptor = self.b.constant_reg(Bank::Int, 8);
        self.push_address(insts::MOV_RM, 8, &[write(descriptor)], thread_symbol(symbol));
        let to = if offset == 0 { reg } else { self.b.int_reg(8) };
        let operands = [write_in(to, RAX), read_in(descriptor, RDI)];
        let clobbers = self.b.clobbers(TLV_CLOBBERS);
        let function = Address { base: Base::Reg(1), index: None, scale: 1, disp: 0 };
        self.push_address(insts::CALL_M, 8, &operands, function).clobbers = clobbers;
        if offset != 0 {
            self.offset_into(reg, Parts::reg(to), offset);
        }
    }

    /// The address of a thread-local of a Windows program: an offset in the block that the thread has
    /// for the module. The thread's table of blocks is in its environment block (TEB, offset 0x58);
    /// the linker and loader fill `_tls_index` in.
    fn thread_section_into(&mut self, reg: VReg, symbol: SymbolId, offset: i64) {
        self.b.code.vregs[reg].rematerialise = false;
        let index = self.b.constant_reg(Bank::Int, 8);
        self.b.push(insts::TLS_INDEX, 8, &[write(index)]);
        let table = self.b.constant_reg(Bank::Int, 8);
        self.b.push(insts::TLS_TABLE, 8, &[write(table)]);
        let block = self.b.int_reg(8);
        let parts = Parts { index: Some(Term::Reg(index)), scale: 8, ..Parts::reg(table) };
        self.push_memory(insts::MOV_RM, 8, &[write(block)], parts);
        let to = if offset == 0 { reg } else { self.b.int_reg(8) };
        let address = Address { index: Some(1), ..thread_symbol(symbol) };
        self.push_address(insts::LEA, 8, &[write(to), read(block)], address);
        if offset != 0 {
            self.offset_into(reg, Parts::reg(to), offset);
        }
    }
}

fn thread_symbol(symbol: SymbolId) -> Address {
    Address { base: Base::Symbol(symbol, Access::Thread), index: None, scale: 1, disp: 0 }
}
