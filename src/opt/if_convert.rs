//! Small branches become selects.
//!
//! A block that branches around a side block, or into two that meet again, where the sides are a
//! few pure instructions and the meeting point has at most [`MAX_SELECTS`] phis that differ: the
//! sides move in front of the branch and the phis become `select`s. Inner branches come first.
//! What may trap, reads memory or has an effect is never run early.
//!
//! Needs the CFG. Changes edges: side blocks become unreachable and are left for `cfg`.

use super::Env;
use crate::analysis::Facts;
use crate::analysis::cfg::Cfg;
use crate::index::IndexVec;
use crate::ir::{BlockId, Function, Inst, Jump, Op, Phi, Ref};

/// Phis that may become selects at one meeting point. Each repeats the comparison.
const MAX_SELECTS: usize = 1;
/// Instructions of one side.
const MAX_SIDE: usize = 2;
/// What a branch, its misses and the jumps of the sides are thought to cost, in instructions.
const BUDGET: usize = 4;

/// Converts branches of `f`; true if there were any.
pub fn run(f: &mut Function, facts: &Facts, env: &Env<'_>) -> bool {
    env.target.has_select && if_convert(f, &facts.cfg)
}

/// A branch that can be converted. `yes` and `no` are the blocks that lead to `join` when the
/// condition holds and when not; one of them may be the branching block itself.
struct Shape {
    condition: Ref,
    yes: BlockId,
    no: BlockId,
    join: BlockId,
}

/// Converts branches.
pub fn if_convert(f: &mut Function, cfg: &Cfg) -> bool {
    let mut preds: IndexVec<BlockId, usize> = IndexVec::filled(0, f.blocks.len());
    for &b in &cfg.rpo {
        preds[b] = cfg.preds(b).len();
    }
    let mut changed = false;
    for &b in cfg.rpo.iter().rev() {
        if let Some(shape) = shape(f, &preds, b)
            && is_cheap(f, b, &shape)
        {
            convert(f, b, &shape);
            // The two ways to the join are now one edge.
            preds[shape.join] -= 1;
            changed = true;
        }
    }
    changed
}

fn shape(f: &Function, preds: &IndexVec<BlockId, usize>, b: BlockId) -> Option<Shape> {
    let Jump::Jnz(condition, y, n) = f.blocks[b].jump else { return None };
    if y == n || condition.as_temp().is_none() {
        return None;
    }
    // Where a side goes, if it is one: reached from `b` alone, and simple.
    let goes = |side: BlockId| match f.blocks[side].jump {
        Jump::Jmp(to) if preds[side] == 1 && is_side(f, side) => Some(to),
        _ => None,
    };
    let (yes, no, join) = match (goes(y), goes(n)) {
        (Some(join), Some(other)) if join == other => (y, n, join),
        (Some(join), _) if join == n => (y, b, join),
        (_, Some(join)) if join == y => (b, n, join),
        _ => return None,
    };
    (join != b).then_some(Shape { condition, yes, no, join })
}

/// True if all that a block does may be done for nothing.
fn is_side(f: &Function, side: BlockId) -> bool {
    let block = &f.blocks[side];
    let harmless = |inst: &Inst| inst.op.is_pure() && !inst.op.traps();
    block.phis.is_empty() && block.insts.len() <= MAX_SIDE && block.insts.iter().all(harmless)
}

fn arguments(phi: &Phi, shape: &Shape) -> Option<(Ref, Ref)> {
    Some((phi.arg(shape.yes)?, phi.arg(shape.no)?))
}

/// The cost model: the sides' instructions are all executed, and a select is a comparison and a
/// conditional move, with constants brought into registers.
fn is_cheap(f: &Function, b: BlockId, shape: &Shape) -> bool {
    let mut selects = 0;
    let mut cost = 0;
    for side in [shape.yes, shape.no] {
        if side != b {
            cost += f.blocks[side].insts.iter().filter(|i| i.op != Op::Nop).count();
        }
    }
    for phi in &f.blocks[shape.join].phis {
        let Some((yes, no)) = arguments(phi, shape) else { return false };
        if yes == no {
            continue;
        }
        if phi.class.is_float() {
            return false;
        }
        selects += 1;
        cost += 1;
        // 0 and 1 are what the comparison itself gives.
        let boolean = matches!((f.bits(yes), f.bits(no)), (Some(0 | 1), Some(0 | 1)));
        if !boolean {
            cost += [yes, no].iter().filter(|r| r.as_temp().is_none()).count();
        }
    }
    selects <= MAX_SELECTS && cost <= BUDGET
}

/// Moves the sides into `b`, which then jumps to the join with selected values.
fn convert(f: &mut Function, b: BlockId, shape: &Shape) {
    let mut moved = Vec::new();
    for side in [shape.yes, shape.no] {
        if side != b {
            moved.append(&mut f.blocks[side].insts);
            f.blocks[side].jump = Jump::Hlt;
        }
    }
    let mut phis = std::mem::take(&mut f.blocks[shape.join].phis);
    for phi in &mut phis {
        let (yes, no) = arguments(phi, shape).expect("checked by the cost model");
        let value = if yes == no {
            yes
        } else {
            let to = f.new_temp(phi.class);
            moved.push(Inst::new(Op::Select, phi.class, to, &[shape.condition, yes, no]));
            to.into()
        };
        phi.args.retain(|&mut (from, _)| from != shape.yes && from != shape.no);
        phi.args.push((b, value));
    }
    f.blocks[shape.join].phis = phis;
    let block = &mut f.blocks[b];
    block.insts.append(&mut moved);
    block.jump = Jump::Jmp(shape.join);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::testing::assert_becomes;

    fn becomes(before: &str, after: &str) {
        assert_becomes(before, after, |f| if_convert(f, &Cfg::new(f)));
    }

    fn stays(text: &str) {
        becomes(text, text);
    }

    #[test]
    fn a_triangle_becomes_a_select() {
        becomes(
            "function w $f(w %a, w %b) {
            @start
                %c =w csltw %a, %b
                jnz %c, @less, @join
            @less
                %d =w sub %b, %a
            @join
                %r =w phi @start %a, @less %d
                ret %r
            }",
            "function w $f(w %a, w %b) {
            @start
            %c =w csltw %a, %b
            %d =w sub %b, %a
            %t.1 =w select %c, %d, %a
            jmp @join
            @less
            hlt
            @join
            %r =w phi @start %t.1
            ret %r
            }",
        );
    }

    #[test]
    fn a_diamond_becomes_a_select() {
        becomes(
            "function l $f(l %a, l %b) {
            @start
                jnz %a, @left, @right
            @left
                %c =l add %a, 1
                jmp @join
            @right
                %d =l xor %b, 3
            @join
                %r =l phi @left %c, @right %d
                ret %r
            }",
            "function l $f(l %a, l %b) {
            @start
            %c =l add %a, 1
            %d =l xor %b, 3
            %t.1 =l select %a, %c, %d
            jmp @join
            @left
            hlt
            @right
            hlt
            @join
            %r =l phi @start %t.1
            ret %r
            }",
        );
    }

    #[test]
    fn what_may_trap_or_read_is_not_run_early() {
        for inst in ["div %a, %b", "loadsw %p"] {
            stays(&format!(
                "function w $f(w %a, w %b, l %p) {{
                @start
                jnz %b, @side, @join
                @side
                %d =w {inst}
                @join
                %r =w phi @start %a, @side %d
                ret %r
                }}"
            ));
        }
    }

    #[test]
    fn floats_long_sides_and_several_phis_stay() {
        stays(
            "function d $f(w %c, d %a, d %b) {
            @start
            jnz %c, @side, @join
            @side
            @join
            %r =d phi @start %a, @side %b
            ret %r
            }",
        );
        stays(
            "function w $f(w %c, w %a, w %b) {
            @start
            jnz %c, @side, @join
            @side
            %d =w add %a, 1
            %e =w mul %d, %b
            %g =w sub %e, 7
            @join
            %r =w phi @start %a, @side %g
            ret %r
            }",
        );
        stays(
            "function w $f(w %c, w %a, w %b) {
            @start
            jnz %c, @side, @join
            @side
            @join
            %r =w phi @start %a, @side %b
            %s =w phi @start %b, @side %a
            %t =w sub %r, %s
            ret %t
            }",
        );
    }

    #[test]
    fn a_side_that_others_reach_stays() {
        stays(
            "function w $f(w %c, w %a) {
            @start
            jnz %c, @branch, @side
            @branch
            jnz %a, @side, @join
            @side
            %d =w phi @start 1, @branch 2
            @join
            %r =w phi @branch %a, @side %d
            ret %r
            }",
        );
    }
}
