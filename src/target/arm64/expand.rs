//! From rows of selection to machine instructions, now that registers are known.

use super::emit::Emitter;
use super::immediates;
use super::insts::{self, VOLATILE, kind, part};
use super::regs::{SCRATCH, SP, ZERO};
use crate::index::Index;
use crate::ir::{Access, SymbolId};
use crate::target::machine::{Address, AddressId, Bank, Base, MInst, MOp, PReg};
use crate::target::{Arg, Named, ObjectFormat};
use smallvec::SmallVec;

impl Emitter<'_> {
    pub fn expand_row(&mut self, inst: &MInst) {
        match inst.op {
            insts::B_IF | insts::CBZ | insts::CBNZ | insts::TBZ | insts::TBNZ => {}
            insts::MOV_C => self.constant(self.reg(inst, 0), inst.imm, inst.size),
            insts::FMOV_C => self.float_constant(inst),
            insts::LEA => {
                let address = self.address(inst);
                let (base, offset) = self.base(inst, &address);
                self.add_to(self.reg(inst, 0), base, offset);
            }
            insts::SYMBOL => self.symbol(inst),
            insts::TLV => self.descriptor(inst),
            insts::ADD_C => {
                self.add_sized(self.reg(inst, 0), self.reg(inst, 1), inst.imm, inst.size);
            }
            insts::STR_ZERO => {
                let (row, size) = match inst.size {
                    1 => (insts::STRB, 4),
                    2 => (insts::STRH, 4),
                    size => (insts::STR, size),
                };
                self.memory(inst, row, size, inst.size, &[Arg::Reg(ZERO)]);
            }
            insts::LDRB | insts::LDRSB | insts::STRB => self.load_or_store(inst, 1),
            insts::LDRH | insts::LDRSH | insts::STRH => self.load_or_store(inst, 2),
            insts::LDRSW => self.load_or_store(inst, 4),
            insts::LDR | insts::STR => self.load_or_store(inst, inst.size),
            insts::BLIT => self.blit(inst),
            insts::CALL => {
                let Address { base: Base::Symbol(symbol, access), disp, .. } = self.address(inst)
                else {
                    unreachable!("only symbols are called by name")
                };
                self.put(insts::BL, 8, &[Arg::Symbol(symbol, access, disp)]);
            }
            insts::CALL_R => {
                let callee = Arg::Reg(self.reg(inst, inst.imm as usize));
                self.put(insts::BLR, 8, &[callee]);
            }
            insts::ALLOC_I | insts::ALLOC_R => self.allocate(inst),
            _ => self.by_operands(inst),
        }
    }

    /// A row whose operands are the machine instruction's.
    fn by_operands(&mut self, inst: &MInst) {
        let row = insts::row(inst.op);
        let mut args: SmallVec<[Arg; 4]> = SmallVec::new();
        let mut n = 0;
        // Which operands are zero, in rows of registers alone.
        let plain = row.operands.bytes().all(|l| matches!(l, b'r' | b'w' | b'x' | b'c'));
        let zeros = if plain { inst.imm } else { 0 };
        for (place, letter) in row.operands.bytes().enumerate() {
            match letter {
                b'r' | b'w' | b'x' if zeros >> place & 1 != 0 => args.push(Arg::Reg(ZERO)),
                b'r' | b'w' | b'x' | b'p' | b'P' | b'f' | b's' | b'd' | b't' => {
                    args.push(Arg::Reg(self.reg(inst, n)));
                    n += 1;
                }
                b'=' => n += 1,
                b'o' => {
                    args.push(modified(self.reg(inst, n), inst.imm));
                    n += 1;
                }
                b'i' | b'u' | b'l' | b'n' => args.push(Arg::Imm(inst.imm)),
                b'j' | b'k' => {
                    args.extend([Arg::Imm(inst.imm & 0xff), Arg::Imm(inst.imm >> 8)]);
                }
                b'a' => {
                    let Address { base: Base::Symbol(symbol, access), disp, .. } =
                        self.address(inst)
                    else {
                        unreachable!("only symbols have pages")
                    };
                    args.push(named(symbol, access, disp, part::PAGE));
                }
                b'c' | b'?' | b'z' => {}
                _ => unreachable!("{} has its own expansion", row.name),
            }
        }
        self.walk.send(inst.op, inst.size, inst.cond, &args);
    }

    // ---- constants and addresses ----

    fn float_constant(&mut self, inst: &MInst) {
        let (d, size) = (Arg::Reg(self.reg(inst, 0)), inst.size);
        let bits = inst.imm as u64;
        if bits == 0 {
            self.put(insts::MOVI, size, &[d, Arg::Imm(0)]);
        } else if let Some(imm) = immediates::float8(bits, size) {
            self.put(insts::FMOV_I, size, &[d, Arg::Imm(i64::from(imm))]);
        } else if immediates::parts(bits, size).parts.len() == 1 {
            self.constant(SCRATCH, inst.imm, size);
            self.put(insts::FMOV_FI, size, &[d, Arg::Reg(SCRATCH)]);
        } else {
            let of = Named::Pool(bits, size);
            let scratch = Arg::Reg(SCRATCH);
            let page = Arg::Part { of, offset: 0, kind: part::PAGE };
            self.put(insts::ADRP, 8, &[scratch, page]);
            let low = Arg::Part { of, offset: 0, kind: part::LOW };
            self.put(insts::LDR, size, &[d, scratch, low]);
        }
    }

    /// The address of a symbol.
    fn symbol(&mut self, inst: &MInst) {
        let Address { base: Base::Symbol(symbol, access), disp, .. } = self.address(inst) else {
            unreachable!("a symbol")
        };
        // Assemblers name a local symbol by its section and an offset, and GNU ld has one cell of its
        // table for a section, whatever the offset: our own symbols are reached without.
        let access = match access {
            Access::Extern if self.input.module.symbols.is_local(symbol) => Access::Direct,
            Access::ExternThread if self.input.module.symbols.is_local(symbol) => Access::Thread,
            access => access,
        };
        let d = self.reg(inst, 0);
        let to = Arg::Reg(d);
        // What the relocations can hold is theirs.
        let near = (-super::memory::SYMBOL_REACH..super::memory::SYMBOL_REACH).contains(&disp);
        let inside = if near { disp } else { 0 };
        let of = |kind, offset| named(symbol, access, offset, kind);
        let rest = match access {
            Access::Direct => {
                self.put(insts::ADRP, 8, &[to, of(part::PAGE, inside)]);
                self.put(insts::ADD_I, 8, &[to, to, of(part::LOW, inside)]);
                disp - inside
            }
            Access::Extern => {
                self.put(insts::ADRP, 8, &[to, of(part::GOT_PAGE, 0)]);
                self.put(insts::LDR, 8, &[to, to, of(part::GOT_LOW, 0)]);
                disp
            }
            Access::Thread => {
                self.put(insts::MRS, 8, &[to]);
                self.put(insts::ADD_I, 8, &[to, to, of(part::TPREL_HIGH, inside)]);
                self.put(insts::ADD_I, 8, &[to, to, of(part::TPREL_LOW, inside)]);
                disp - inside
            }
            Access::ExternThread => {
                let thread = Arg::Reg(SCRATCH);
                self.put(insts::ADRP, 8, &[to, of(part::GOTTPREL_PAGE, 0)]);
                self.put(insts::LDR, 8, &[to, to, of(part::GOTTPREL_LOW, 0)]);
                self.put(insts::MRS, 8, &[thread]);
                self.put(insts::ADD, 8, &[to, to, thread]);
                disp
            }
        };
        self.add_to(d, d, rest);
    }

    /// The address of a thread-local variable by the function in its descriptor.
    fn descriptor(&mut self, inst: &MInst) {
        debug_assert_eq!(self.format, ObjectFormat::MachO);
        let Address { base: Base::Symbol(symbol, access), disp, .. } = self.address(inst) else {
            unreachable!("a symbol")
        };
        let d = self.reg(inst, 0);
        let (to, function) = (Arg::Reg(d), Arg::Reg(SCRATCH));
        self.put(insts::ADRP, 8, &[to, named(symbol, access, 0, part::TLVP_PAGE)]);
        self.put(insts::LDR, 8, &[to, to, named(symbol, access, 0, part::TLVP_LOW)]);
        self.put(insts::LDR, 8, &[function, to, Arg::Imm(0)]);
        self.put(insts::BLR, 8, &[function]);
        self.add_to(d, d, disp);
    }

    fn address(&self, inst: &MInst) -> Address {
        self.code.addresses[inst.address.expect("the row has an address")]
    }

    /// Base register and offset of an address without an index.
    fn base(&self, inst: &MInst, address: &Address) -> (PReg, i64) {
        match address.base {
            Base::Reg(n) => (self.reg(inst, usize::from(n)), address.disp),
            base => {
                let (base, offset) = self.frame.address(base).expect("a part of the frame");
                (base, offset.wrapping_add(address.disp))
            }
        }
    }

    // ---- memory ----

    fn load_or_store(&mut self, inst: &MInst, bytes: u8) {
        let register = Arg::Reg(self.reg(inst, 0));
        self.memory(inst, inst.op, inst.size, bytes, &[register]);
    }

    /// An access of `bytes` bytes at the address of `inst`.
    fn memory(&mut self, inst: &MInst, row: MOp, size: u8, bytes: u8, registers: &[Arg]) {
        let address = self.address(inst);
        let volatile = inst.imm & VOLATILE != 0;
        let index = address.index.map(|n| self.reg(inst, usize::from(n)));
        match (address.base, index) {
            // The register is the symbol's page.
            (Base::Symbol(symbol, access), Some(page)) => {
                let low = named(symbol, access, address.disp, part::LOW);
                self.put_access(row, size, registers, Arg::Reg(page), low, volatile);
            }
            (_, None) => {
                let (base, offset) = self.base(inst, &address);
                self.access(row, size, registers, base, offset, bytes, volatile);
            }
            (_, Some(index)) => {
                debug_assert_eq!(address.disp, 0, "an index and a displacement");
                let (base, _) = self.base(inst, &address);
                let how = inst.imm as u8;
                let amount = address.scale.trailing_zeros() as u8;
                let offset = match (how, amount) {
                    (kind::LSL, 0) => Arg::Reg(index),
                    _ => Arg::Modified { reg: index, kind: how, amount },
                };
                self.put_access(row, size, registers, Arg::Reg(base), offset, volatile);
            }
        }
    }

    /// Copies memory in chunks as large as fit, two registers at a time where that goes; the last
    /// chunk may overlap the one before.
    fn blit(&mut self, inst: &MInst) {
        let id = inst.address.expect("the source is an address");
        let next = AddressId::new(id.index() + 1);
        let source = self.base(inst, &self.code.addresses[id]);
        let target = self.base(inst, &self.code.addresses[next]);
        let scratch = [self.reg(inst, 0), self.reg(inst, 1)];
        let bytes = inst.imm;
        let (least, most) = match scratch[0].bank() {
            Bank::Int => (1, 2),
            Bank::Float => (4, 16),
        };
        let mut chunks: SmallVec<[(i64, u8); 20]> = SmallVec::new();
        let mut at = 0;
        while at < bytes {
            let rest = bytes - at;
            let mut size = most;
            while size > rest && size > least && (size / 2 >= rest || at < size - rest) {
                size /= 2;
            }
            if size > rest {
                at = bytes - size;
            }
            chunks.push((at, size as u8));
            at += size;
        }
        for pair in chunks.chunks(2) {
            for (row, (base, offset)) in [(insts::LDR, source), (insts::STR, target)] {
                for (&(at, size), register) in pair.iter().zip(scratch) {
                    let row = match (row, size) {
                        (insts::LDR, 1) => insts::LDRB,
                        (insts::LDR, 2) => insts::LDRH,
                        (_, 1) => insts::STRB,
                        (_, 2) => insts::STRH,
                        (row, _) => row,
                    };
                    let registers = [Arg::Reg(register)];
                    self.access(row, size, &registers, base, offset + at, size, false);
                }
            }
        }
    }

    fn allocate(&mut self, inst: &MInst) {
        let d = self.reg(inst, 0);
        if inst.op == insts::ALLOC_I {
            self.add_to(SP, SP, inst.imm.wrapping_neg());
        } else {
            let amount = Arg::Modified { reg: self.reg(inst, 1), kind: kind::UXTX, amount: 0 };
            self.put(insts::SUB_SP, 8, &[Arg::Reg(SP), Arg::Reg(SP), amount]);
        }
        let above = self.frame.allocated();
        self.add_to(d, SP, above);
    }
}

/// A register as `imm` modifies it.
fn modified(reg: PReg, imm: i64) -> Arg {
    match (imm >> 8) as u8 {
        kind::LSL if imm == 0 => Arg::Reg(reg),
        kind => Arg::Modified { reg, kind, amount: imm as u8 },
    }
}

fn named(symbol: SymbolId, access: Access, offset: i64, kind: u8) -> Arg {
    Arg::Part { of: Named::Symbol(symbol, access), offset, kind }
}
