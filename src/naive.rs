use crate::index::{Index, IndexVec};
use crate::target::Layout;
use crate::target::machine::*;

pub fn allocate(code: &MFunction, registers: &Registers) -> Allocation {
    let n = code.vregs.len();
    let mut a = Allocation { locations: vec![None; code.operands.len()], ..Allocation::default() };
    for _ in 0..2 * n {
        a.spills.push(());
    }
    let home = |v: VReg| Location::Spill(SpillId::new(v.index()));
    let temp = |v: VReg| Location::Spill(SpillId::new(v.index() + n));
    for (b, block) in code.blocks.enumerate() {
        let mut steps = Vec::new();
        for (i, inst) in block.insts.iter().enumerate() {
            let ops = code.operands(inst);
            if i + 1 == block.insts.len() && block.succs.len() == 1 {
                let s = block.succs[0];
                let reg = |v: VReg| {
                    Location::Reg(if code.vregs[v].bank == Bank::Int { PReg::int(0) } else { PReg::float(0) })
                };
                for phi in &code.blocks[s].phis {
                    let arg = phi.args.iter().find(|x| x.0 == b).unwrap().1;
                    let size = code.vregs[phi.to].size;
                    steps.push(Step::Move { from: home(arg), to: reg(arg), size });
                    steps.push(Step::Move { from: reg(arg), to: temp(phi.to), size });
                }
                for phi in &code.blocks[s].phis {
                    let size = code.vregs[phi.to].size;
                    steps.push(Step::Move { from: temp(phi.to), to: reg(phi.to), size });
                    steps.push(Step::Move { from: reg(phi.to), to: home(phi.to), size });
                }
            }
            let mut busy = code.reserved;
            for o in ops {
                if let Constraint::Fixed(r) = o.constraint {
                    busy.insert(r);
                }
            }
            let mut locs: Vec<Option<Location>> = vec![None; ops.len()];
            for (k, o) in ops.iter().enumerate() {
                let loc = match o.constraint {
                    Constraint::Fixed(r) => Location::Reg(r),
                    Constraint::Any if o.role == Role::Use => home(o.reg),
                    Constraint::Reuse(_) => continue,
                    _ => {
                        let order = registers.order(code.vregs[o.reg].bank);
                        let r = *order.iter().rev().find(|r| !busy.contains(**r)).unwrap();
                        busy.insert(r);
                        Location::Reg(r)
                    }
                };
                locs[k] = Some(loc);
            }
            for (k, o) in ops.iter().enumerate() {
                if let Constraint::Reuse(u) = o.constraint {
                    locs[k] = locs[u as usize];
                }
            }
            for (k, o) in ops.iter().enumerate() {
                let loc = locs[k].unwrap();
                a.locations[inst.first as usize + k] = Some(loc);
                if o.role == Role::Use && loc != home(o.reg) {
                    let size = code.vregs[o.reg].size;
                    steps.push(Step::Move { from: home(o.reg), to: loc, size });
                }
                if let Location::Reg(r) = loc {
                    a.used.insert(r);
                }
            }
            steps.push(Step::Inst(i as u32));
            for (k, o) in ops.iter().enumerate() {
                if o.role != Role::Use {
                    let size = code.vregs[o.reg].size;
                    steps.push(Step::Move { from: locs[k].unwrap(), to: home(o.reg), size });
                }
            }
        }
        a.steps.push(steps);
    }
    a
}

pub fn layout(code: &MFunction) -> Layout {
    let forward: IndexVec<_, _> = code.blocks.indices().collect();
    Layout { order: code.blocks.indices().collect(), forward }
}
