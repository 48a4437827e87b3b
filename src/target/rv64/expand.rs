//! The instructions of selection as final ones.

use super::constants::{FloatSteps, float_steps};
use super::emit::Emitter;
use super::insts::{self, Shape, cond, mark};
use super::regs::{SP, T6, TP, ZERO};
use crate::ir::Access;
use crate::target::Arg;
use crate::target::machine::{Base, MInst, PReg};

impl Emitter<'_> {
    /// `Emit::expand`
    pub fn expand_row(&mut self, inst: &MInst) {
        match inst.op {
            insts::LI => {
                let d = self.reg(inst, 0);
                self.constant(d, inst.imm);
            }
            insts::FLI => self.float_constant(inst),
            insts::LEA => self.address(inst),
            insts::STORE_ZERO => {
                let row = match inst.size {
                    1 => insts::SB,
                    2 => insts::SH,
                    4 => insts::SW,
                    _ => insts::SD,
                };
                let (disp, base) = self.place(inst, T6);
                self.put(row, &[Arg::Reg(ZERO), disp, Arg::Reg(base)]);
            }
            // The branch itself is written with the block's exits.
            insts::BRANCH => {}
            insts::BLIT_LOOP => self.copying_loop(inst),
            insts::ALLOC | insts::ALLOC_IMM => self.allocate(inst),
            insts::CALL => {
                let id = inst.address.expect("the callee is an address");
                let address = self.code.addresses[id];
                let Base::Symbol(symbol, access) = address.base else {
                    unreachable!("only symbols are called by name")
                };
                self.put(insts::CALL, &[Arg::Symbol(symbol, access, address.disp)]);
                self.walk.pad(4);
            }
            insts::CALL_REG => {
                let callee = Arg::Reg(self.reg(inst, inst.imm as usize));
                self.put(insts::CALL_REG, &[callee]);
            }
            _ => self.by_shape(inst),
        }
    }

    /// A row whose operands are the machine instruction's.
    fn by_shape(&mut self, inst: &MInst) {
        let row = insts::row(inst.op);
        let first = Arg::Reg(self.reg(inst, 0));
        match row.shape {
            Shape::R => {
                let (a, b) = (self.reg(inst, 1), self.reg(inst, 2));
                self.put(inst.op, &[first, Arg::Reg(a), Arg::Reg(b)]);
            }
            Shape::I => {
                let a = self.reg(inst, 1);
                self.put(inst.op, &[first, Arg::Reg(a), Arg::Imm(inst.imm)]);
            }
            Shape::Unary | Shape::Truncate => {
                let a = self.reg(inst, 1);
                self.put(inst.op, &[first, Arg::Reg(a)]);
            }
            Shape::Load => {
                let d = self.reg(inst, 0);
                let float = matches!(inst.op, insts::FLW | insts::FLD);
                let (disp, base) = self.place(inst, if float { T6 } else { d });
                self.put(inst.op, &[first, disp, Arg::Reg(base)]);
            }
            Shape::Store => {
                let (disp, base) = self.place(inst, T6);
                self.put(inst.op, &[first, disp, Arg::Reg(base)]);
            }
            _ => unreachable!("{} has its own expansion", row.name),
        }
    }

    fn float_constant(&mut self, inst: &MInst) {
        let d = Arg::Reg(self.reg(inst, 0));
        let bits = inst.imm as u64;
        let moved = if inst.size == 4 { insts::FMV_W_X } else { insts::FMV_D_X };
        let (row, from) = match float_steps(bits, inst.size) {
            Some(FloatSteps::Zero) => (moved, ZERO),
            Some(FloatSteps::Integer(value)) => {
                self.constant(T6, value);
                (insts::FCVT_D_W, T6)
            }
            _ => {
                let value = if inst.size == 4 { i64::from(bits as i32) } else { bits as i64 };
                self.constant(T6, value);
                (moved, T6)
            }
        };
        self.put(row, &[d, Arg::Reg(from)]);
    }

    /// An address into a register.
    fn address(&mut self, inst: &MInst) {
        let d = self.reg(inst, 0);
        let id = inst.address.expect("the row has an address");
        let address = self.code.addresses[id];
        if let Some((base, offset)) = self.frame.address(address.base) {
            return self.add(d, base, address.disp.wrapping_add(offset));
        }
        let Base::Symbol(_, access) = address.base else {
            unreachable!("an address of the frame or of a symbol")
        };
        let (low, base) = self.place(inst, d);
        let (d, base) = (Arg::Reg(d), Arg::Reg(base));
        match access {
            Access::Direct | Access::Thread => self.put(insts::ADDI, &[d, base, low]),
            Access::Extern => self.put(insts::LD, &[d, low, base]),
            Access::ExternThread => {
                self.put(insts::LD, &[d, low, base]);
                self.put(insts::ADD, &[d, d, Arg::Reg(TP)]);
            }
        }
    }

    /// `d = base + offset`; `base` is a register of the frame.
    pub fn add(&mut self, d: PReg, base: PReg, offset: i64) {
        if super::materialise::fits12(offset) {
            if offset == 0 {
                self.put(insts::MV, &[Arg::Reg(d), Arg::Reg(base)]);
            } else {
                self.put_imm(insts::ADDI, d, base, offset);
            }
            return;
        }
        self.constant(d, offset);
        self.put_regs(insts::ADD, d, d, base);
    }

    fn copying_loop(&mut self, inst: &MInst) {
        let (temporary, source, destination) =
            (self.reg(inst, 0), self.reg(inst, 1), self.reg(inst, 2));
        let end = self.reg(inst, 5);
        let size = i64::from(inst.size);
        let (load, store) = match inst.size {
            1 => (insts::LBU, insts::SB),
            2 => (insts::LHU, insts::SH),
            4 => (insts::LW, insts::SW),
            _ => (insts::LD, insts::SD),
        };
        let t = Arg::Reg(temporary);
        self.put(insts::MARK_BACK, &[]);
        for n in 0..inst.imm {
            let disp = Arg::Imm(n * size);
            self.put(load, &[t, disp, Arg::Reg(source)]);
            self.put(store, &[t, disp, Arg::Reg(destination)]);
        }
        self.put_imm(insts::ADDI, source, source, inst.imm * size);
        self.put_imm(insts::ADDI, destination, destination, inst.imm * size);
        self.put_branch(cond::NE, source, Some(end), Err(mark::BACK));
    }

    fn allocate(&mut self, inst: &MInst) {
        let d = self.reg(inst, 0);
        if inst.op == insts::ALLOC {
            let size = self.reg(inst, 1);
            self.put_regs(insts::SUB, SP, SP, size);
        } else if super::materialise::fits12(-inst.imm) {
            self.put_imm(insts::ADDI, SP, SP, -inst.imm);
        } else {
            self.constant(T6, inst.imm);
            self.put_regs(insts::SUB, SP, SP, T6);
        }
        self.add(d, SP, self.frame.allocated);
    }
}
