//! Comparisons that are not needed, because the flags say it already: a result compared with 0
//! right after the instruction that made it, and the same operands compared again in the next
//! block, as the cases of a `switch` do.

use super::insts::{self, Flags, cond};
use crate::index::IndexVec;
use crate::ir::BlockId;
use crate::target::machine::{Constraint, MFunction, MInst, MOp, VReg, op};

/// What the flags say after an operation whose result is then compared with 0.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Leaves {
    /// Zero and sign as `test` would.
    ZeroAndSign,
    /// All as `test` would.
    All,
}

fn leaves(number: MOp) -> Option<Leaves> {
    use insts::*;
    match number {
        AND_RR | AND_RI | AND_RM | OR_RR | OR_RI | OR_RM | XOR_RR | XOR_RI | XOR_RM => {
            Some(Leaves::All)
        }
        ADD3_RR | ADD3_RI | ADD_RR | ADD_RI | ADD_RM | SUB_RR | SUB_RI | SUB_RM | NEG_R
        | SHL_RI | SHR_RI | SAR_RI => Some(Leaves::ZeroAndSign),
        _ => None,
    }
}

/// The condition to use instead of one after `test`, if only zero and sign are right.
fn without_overflow(condition: u8) -> Option<u8> {
    match condition {
        cond::E | cond::NE | cond::S | cond::NS => Some(condition),
        cond::L => Some(cond::S),
        cond::GE => Some(cond::NS),
        _ => None,
    }
}

/// Removes the comparisons with 0 of results whose own instruction has set the flags already.
pub fn reuse_flags(code: &mut MFunction, block: BlockId) {
    let insts = &mut code.blocks[block].insts;
    let mut last: Option<(usize, VReg, Leaves)> = None;
    let mut removed = false;
    for i in 0..insts.len() {
        let inst = insts[i];
        if inst.op < op::FIRST_TARGET || insts::row(inst.op).flags != Flags::Write {
            continue;
        }
        let operands = &code.operands[inst.first as usize..][..inst.count as usize];
        if inst.op == insts::TEST_RR
            && operands[0].reg == operands[1].reg
            && let Some((from, reg, leaves)) = last
            && reg == operands[0].reg
            && insts[from].size == inst.size
            && adapt_readers(&mut insts[i + 1..], leaves)
        {
            insts[i].op = op::NOP;
            removed = true;
            let first = insts[from].first as usize;
            let tied = match insts[from].op {
                insts::ADD3_RR => insts::ADD_RR,
                insts::ADD3_RI => insts::ADD_RI,
                other => other,
            };
            insts[from].op = tied;
            code.operands[first].constraint = Constraint::Reuse(1);
            last = None;
            continue;
        }
        last = leaves(inst.op).map(|leaves| (i, operands[0].reg, leaves));
    }
    if removed {
        insts.retain(|inst| inst.op != op::NOP);
    }
}

/// Changes the conditions that read the flags in what follows. False, and nothing changed, if one
/// of them reads more than there is.
fn adapt_readers(insts: &mut [MInst], leaves: Leaves) -> bool {
    leaves == Leaves::All || change_readers(insts, without_overflow)
}

/// Whether the row of `inst` does that to the flags.
fn does(inst: &MInst, flags: Flags) -> bool {
    inst.op >= op::FIRST_TARGET && insts::row(inst.op).flags == flags
}

/// Changes the conditions up to the next writer of flags. False, and nothing changed, if `change`
/// has no answer for one of them.
fn change_readers(insts: &mut [MInst], change: impl Fn(u8) -> Option<u8>) -> bool {
    let end = insts.iter().position(|i| does(i, Flags::Write)).unwrap_or(insts.len());
    let readers = || (0..end).filter(|&i| does(&insts[i], Flags::Read));
    if readers().any(|i| change(insts[i].cond).is_none()) {
        return false;
    }
    for inst in insts[..end].iter_mut().filter(|i| does(i, Flags::Read)) {
        inst.cond = change(inst.cond).expect("checked above");
    }
    true
}

/// Removes comparisons that the only predecessor of a block has made. A block that then reads the
/// flags it is entered with is marked.
pub fn reuse_across(code: &mut MFunction) {
    // The comparison whose flags a block ends with.
    let mut last: IndexVec<BlockId, Option<MInst>> = IndexVec::filled(None, code.blocks.len());
    for b in code.blocks.indices() {
        let block = &code.blocks[b];
        let before = match block.preds[..] {
            [p] if code.blocks[p].succs.len() == 2 => last[p],
            _ => None,
        };
        let first = block.insts.iter().position(|i| does(i, Flags::Write));
        if let (Some(before), Some(first)) = (before, first)
            && let Some(change) = same_comparison(code, &before, &block.insts[first])
            && change_readers(&mut code.blocks[b].insts[first + 1..], |c| changed(change, c))
        {
            code.blocks[b].insts.remove(first);
            code.blocks[b].flags_in = true;
        }
        let block = &code.blocks[b];
        last[b] = match block.insts.iter().rfind(|i| does(i, Flags::Write)) {
            Some(inst) => is_comparison(inst.op).then_some(*inst),
            None if block.flags_in => before,
            None => None,
        };
    }
}

/// A comparison of registers and constants, which repeats the same answer.
fn is_comparison(number: MOp) -> bool {
    matches!(number, insts::CMP_RR | insts::CMP_RI | insts::TEST_RR | insts::UCOMI_RR)
}

/// How conditions have to change if the flags are those of another comparison.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Change {
    No,
    /// It compares with a constant that is one less.
    Less,
    /// With one more.
    More,
}

fn changed(change: Change, condition: u8) -> Option<u8> {
    Some(match (change, condition) {
        (Change::No, c) => c,
        (Change::Less, cond::L) => cond::LE,
        (Change::Less, cond::GE) => cond::G,
        (Change::Less, cond::B) => cond::BE,
        (Change::Less, cond::AE) => cond::A,
        (Change::More, cond::LE) => cond::L,
        (Change::More, cond::G) => cond::GE,
        (Change::More, cond::BE) => cond::B,
        (Change::More, cond::A) => cond::AE,
        _ => return None,
    })
}

/// Whether `before` leaves what `inst` would, or nearly.
fn same_comparison(code: &MFunction, before: &MInst, inst: &MInst) -> Option<Change> {
    if before.size != inst.size {
        return None;
    }
    if let (Some((old, m)), Some((new, n))) =
        (with_constant(code, before), with_constant(code, inst))
    {
        // Neither step may pass the end of the signed or the unsigned range.
        let follows = |m: i64, n: i64| m + 1 == n && m != -1 && m != i64::from(i32::MAX);
        return match () {
            () if old != new => None,
            () if m == n => Some(Change::No),
            () if follows(m, n) => Some(Change::Less),
            () if follows(n, m) => Some(Change::More),
            () => None,
        };
    }
    let registers = |i| code.operands(i).iter().map(|o| o.reg);
    let same = before.op == inst.op
        && is_comparison(inst.op)
        && before.imm == inst.imm
        && registers(before).eq(registers(inst));
    same.then_some(Change::No)
}

/// The register and the constant that `inst` compares.
fn with_constant(code: &MFunction, inst: &MInst) -> Option<(VReg, i64)> {
    let operands = code.operands(inst);
    match inst.op {
        insts::CMP_RI => Some((operands[0].reg, inst.imm)),
        insts::TEST_RR if operands[0].reg == operands[1].reg => Some((operands[0].reg, 0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a relation of `x` and `n` holds by its condition.
    fn holds(condition: u8, x: i8, n: i8) -> bool {
        match condition {
            cond::E => x == n,
            cond::NE => x != n,
            cond::L => x < n,
            cond::LE => x <= n,
            cond::G => x > n,
            cond::GE => x >= n,
            cond::B => (x as u8) < n as u8,
            cond::BE => x as u8 <= n as u8,
            cond::A => x as u8 > n as u8,
            cond::AE => x as u8 >= n as u8,
            _ => unreachable!("not a relation of two values"),
        }
    }

    #[test]
    fn conditions_of_the_neighbouring_constant() {
        // Without the steps that pass the end of a range.
        for n in (i8::MIN..i8::MAX).filter(|&n| n != -1) {
            for condition in cond::B..=cond::G {
                for x in i8::MIN..=i8::MAX {
                    if let Some(other) = changed(Change::Less, condition) {
                        assert_eq!(holds(condition, x, n + 1), holds(other, x, n));
                    }
                    if let Some(other) = changed(Change::More, condition) {
                        assert_eq!(holds(condition, x, n), holds(other, x, n + 1));
                    }
                }
            }
        }
    }
}
