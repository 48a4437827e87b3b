//! Conversions between integers and floats, and between floats. Out of range the machine saturates
//! (unprivileged ISA, "Single-Precision Floating-Point Conversion and Move Instructions").

use super::insts;
use super::isel::Isel;
use crate::ir::{Class, Inst, Op};
use crate::target::machine::VReg;
use crate::target::select::Select;

impl Isel<'_> {
    /// The bits of one register file in the other.
    pub fn cast(&mut self, inst: &Inst, to: VReg) {
        let from_class = match inst.class {
            Class::W => Class::S,
            Class::L => Class::D,
            Class::S => Class::W,
            Class::D => Class::L,
        };
        let from = self.value(inst.args[0], from_class);
        self.move_bits(to, from, inst.class.size() as u8);
    }

    pub fn convert(&mut self, inst: &Inst, to: VReg) {
        let wide = inst.class.is_wide();
        // The class of the operand; the row for a narrow result or integer, and for a wide one.
        let (class, row) = match inst.op {
            Op::Exts => (Class::S, insts::FCVT_D_S),
            Op::Truncd => (Class::D, insts::FCVT_S_D),
            Op::Stosi => (Class::S, if wide { insts::FCVT_L_S } else { insts::FCVT_W_S }),
            Op::Stoui => (Class::S, if wide { insts::FCVT_LU_S } else { insts::FCVT_WU_S }),
            Op::Dtosi => (Class::D, if wide { insts::FCVT_L_D } else { insts::FCVT_W_D }),
            Op::Dtoui => (Class::D, if wide { insts::FCVT_LU_D } else { insts::FCVT_WU_D }),
            Op::Swtof => (Class::W, if wide { insts::FCVT_D_W } else { insts::FCVT_S_W }),
            Op::Uwtof => (Class::W, if wide { insts::FCVT_D_WU } else { insts::FCVT_S_WU }),
            Op::Sltof => (Class::L, if wide { insts::FCVT_D_L } else { insts::FCVT_S_L }),
            Op::Ultof => (Class::L, if wide { insts::FCVT_D_LU } else { insts::FCVT_S_LU }),
            other => unreachable!("{} is no conversion", other.name()),
        };
        let from = self.value(inst.args[0], class);
        self.unary(row, to, from);
    }
}
