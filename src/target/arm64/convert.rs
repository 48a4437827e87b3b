//! Conversions between classes.

use super::insts;
use super::isel::Isel;
use crate::ir::{Class, Inst, Op};
use crate::target::lower::write;
use crate::target::machine::{MOp, VReg};
use crate::target::select::Select;

impl Isel<'_> {
    /// The bits of a value in the other register file.
    pub fn cast(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let (from_class, row) = match inst.class {
            Class::W => (Class::S, insts::FMOV_IF),
            Class::L => (Class::D, insts::FMOV_IF),
            Class::S => (Class::W, insts::FMOV_FI),
            Class::D => (Class::L, insts::FMOV_FI),
        };
        if let Some(load) = self.b.foldable_load(inst.args[0])
            && load.op.load_size() == Some(u32::from(size))
        {
            let parts = self.parts_for(load.args[0], size);
            self.push_memory(insts::LDR, size, &[write(to)], parts, size);
            return;
        }
        let from = self.value(inst.args[0], from_class);
        self.push1(row, size, to, from);
    }

    pub fn convert(&mut self, inst: &Inst, to: VReg) {
        let size = inst.class.size() as u8;
        let double = inst.class == Class::D;
        let pick = |single: MOp, of_double: MOp| if double { of_double } else { single };
        // Row, its size (the integer's), class of the operand. Integers out of range become the
        // nearest there is, of which nothing is promised.
        let (row, size, class) = match inst.op {
            Op::Exts => (insts::FCVT_D, 8, Class::S),
            Op::Truncd => (insts::FCVT_S, 4, Class::D),
            Op::Stosi => (insts::FCVTZS_S, size, Class::S),
            Op::Stoui => (insts::FCVTZU_S, size, Class::S),
            Op::Dtosi => (insts::FCVTZS_D, size, Class::D),
            Op::Dtoui => (insts::FCVTZU_D, size, Class::D),
            Op::Swtof => (pick(insts::SCVTF_S, insts::SCVTF_D), 4, Class::W),
            Op::Uwtof => (pick(insts::UCVTF_S, insts::UCVTF_D), 4, Class::W),
            Op::Sltof => (pick(insts::SCVTF_S, insts::SCVTF_D), 8, Class::L),
            Op::Ultof => (pick(insts::UCVTF_S, insts::UCVTF_D), 8, Class::L),
            _ => unreachable!("{:?} is not a conversion", inst.op),
        };
        let from = self.value(inst.args[0], class);
        self.push1(row, size, to, from);
    }
}
