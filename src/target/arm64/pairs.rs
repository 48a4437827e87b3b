//! Two loads or stores of neighbouring memory as one instruction.

use super::insts;
use crate::target::machine::PReg;
use crate::target::{Arg, Instruction};
use smallvec::smallvec;

/// The one instruction that does what two in a row do.
pub fn combine(first: &Instruction, second: &Instruction) -> Option<Instruction> {
    let load = match first.op {
        insts::LDR => true,
        insts::STR => false,
        _ => return None,
    };
    // Volatile accesses stay what they are.
    if second.op != first.op || second.size != first.size || first.cond | second.cond != 0 {
        return None;
    }
    let (a, b) = (access(first)?, access(second)?);
    if a.base != b.base || a.register.bank() != b.register.bank() {
        return None;
    }
    if load && (a.register == a.base || a.register == b.register) {
        return None;
    }
    let size = i64::from(first.size);
    let (low, high) = if a.offset < b.offset { (&a, &b) } else { (&b, &a) };
    let reach = -64 * size..64 * size;
    if low.offset + size != high.offset || low.offset % size != 0 || !reach.contains(&low.offset) {
        return None;
    }
    let op = if load { insts::LDP } else { insts::STP };
    let args = smallvec![
        Arg::Reg(low.register),
        Arg::Reg(high.register),
        Arg::Reg(low.base),
        Arg::Imm(low.offset)
    ];
    Some(Instruction { op, size: first.size, cond: 0, args })
}

/// A register that is loaded or stored at a constant distance from another.
struct Access {
    register: PReg,
    base: PReg,
    offset: i64,
}

fn access(i: &Instruction) -> Option<Access> {
    match i.args[..] {
        [Arg::Reg(register), Arg::Reg(base), Arg::Imm(offset)] => {
            Some(Access { register, base, offset })
        }
        _ => None,
    }
}
