//! Random machine functions, and the tests that allocate and check them.

use super::check::check;
use super::{Options, allocate};
use crate::index::{Index, IndexVec};
use crate::ir::{BlockId, SymbolId};
use crate::target::machine::{
    Allocation, Bank, Constraint, Location, MBlock, MFunction, MInst, MPhi, Operand, PReg, PRegSet,
    Registers, Role, Step, VReg, VRegInfo, op,
};
use smallvec::SmallVec;
use std::fmt::Write;

const fn r(n: u8) -> PReg {
    PReg::int(n)
}

const fn f(n: u8) -> PReg {
    PReg::float(n)
}

/// Eight integer registers, five of them the caller's; four float registers, three the caller's.
pub static TOY: Registers = Registers {
    int_order: &[r(0), r(1), r(2), r(3), r(4), r(5), r(6), r(7)],
    float_order: &[f(0), f(1), f(2), f(3)],
    caller_saved: PRegSet::of(&[r(0), r(1), r(2), r(3), r(4), f(0), f(1), f(2)]),
    callee_saved: PRegSet::of(&[r(5), r(6), r(7), f(3)]),
};

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A graph without critical edges, in reverse postorder; nothing enters block 0.
fn graph(random: &mut Random) -> Vec<Vec<usize>> {
    let n = 1 + random.below(12);
    let mut succs: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (b, list) in succs.iter_mut().enumerate() {
        let next = (b + 1).min(n - 1);
        let wanted = [0, 1, 1, 2, 2, 2][random.below(6)];
        for k in 0..wanted {
            let to = if k == 0 || random.chance(50) { next } else { random.below(n) };
            if to > 0 && !list.contains(&to) {
                list.push(to);
            }
        }
        if list.is_empty() && next > b {
            list.push(next);
        }
    }
    let mut preds = vec![0; n];
    for &to in succs.iter().flatten() {
        preds[to] += 1;
    }
    for b in 0..n {
        if succs[b].len() > 1 {
            for k in 0..2 {
                let to = succs[b][k];
                if preds[to] > 1 {
                    succs.push(vec![to]);
                    succs[b][k] = succs.len() - 1;
                }
            }
        }
    }
    let order = reverse_postorder(&succs);
    let mut number = vec![usize::MAX; succs.len()];
    for (i, &b) in order.iter().enumerate() {
        number[b] = i;
    }
    order.iter().map(|&b| succs[b].iter().map(|&s| number[s]).collect()).collect()
}

fn reverse_postorder(succs: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; succs.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((b, k)) = stack.pop() {
        match succs[b].get(k) {
            Some(&s) => {
                stack.push((b, k + 1));
                if !seen[s] {
                    seen[s] = true;
                    stack.push((s, 0));
                }
            }
            None => order.push(b),
        }
    }
    order.reverse();
    order
}

/// Of each block: the blocks that dominate it, as bits.
fn dominators(preds: &[Vec<usize>]) -> Vec<u64> {
    let mut dominators = vec![u64::MAX; preds.len()];
    dominators[0] = 1;
    loop {
        let before = dominators.clone();
        for b in 1..preds.len() {
            let all = preds[b].iter().fold(u64::MAX, |all, &p| all & dominators[p]);
            dominators[b] = all | 1 << b;
        }
        if before == dominators {
            return dominators;
        }
    }
}

/// Of each block: how many natural loops it is in.
fn depths(preds: &[Vec<usize>], dominators: &[u64]) -> Vec<u32> {
    let mut depth = vec![0; preds.len()];
    for h in 0..preds.len() {
        let mut inside = vec![false; preds.len()];
        let mut work: Vec<usize> =
            preds[h].iter().copied().filter(|&p| dominators[p] >> h & 1 != 0).collect();
        let any = !work.is_empty();
        inside[h] = any;
        while let Some(b) = work.pop() {
            if !inside[b] {
                inside[b] = true;
                work.extend(&preds[b]);
            }
        }
        for b in 0..preds.len() {
            depth[b] += u32::from(inside[b]);
        }
    }
    depth
}

struct Generator {
    random: Random,
    code: MFunction,
    /// The values of each block, phis first.
    defined: Vec<Vec<VReg>>,
    dominators: Vec<u64>,
    block: usize,
    insts: Vec<MInst>,
}

/// A random function.
pub fn function(seed: u64) -> MFunction {
    let mut random = Random::new(seed);
    let succs = graph(&mut random);
    let n = succs.len();
    let mut preds = vec![Vec::new(); n];
    for (b, list) in succs.iter().enumerate() {
        for &s in list {
            preds[s].push(b);
        }
    }
    let dominators = dominators(&preds);
    let depth = depths(&preds, &dominators);
    let mut blocks: IndexVec<BlockId, MBlock> = IndexVec::new();
    for b in 0..n {
        let scale = [0.01, 0.5, 1.0, 1.0][random.below(4)];
        blocks.push(MBlock {
            phis: Vec::new(),
            insts: Vec::new(),
            succs: succs[b].iter().map(|&s| BlockId::new(s)).collect(),
            preds: preds[b].iter().map(|&p| BlockId::new(p)).collect(),
            flags_in: false,
            depth: depth[b],
            frequency: 10_f32.powi(depth[b] as i32) * scale,
        });
    }
    let returns_twice = random.chance(8);
    let code = MFunction {
        symbol: SymbolId::new(0),
        blocks,
        vregs: IndexVec::new(),
        operands: Vec::new(),
        addresses: IndexVec::new(),
        clobbers: vec![PRegSet::EMPTY],
        slots: IndexVec::new(),
        outgoing: 0,
        calls: true,
        dynamic: false,
        frame_pointer: false,
        reserved: if random.chance(20) { PRegSet::of(&[r(7)]) } else { PRegSet::EMPTY },
        returns_twice,
        extra: 0,
    };
    let mut generator =
        Generator { random, code, defined: Vec::new(), dominators, block: 0, insts: Vec::new() };
    let length = 1 + generator.random.below(12);
    for b in 0..n {
        generator.block(b, length);
    }
    generator.phi_args();
    generator.code
}

impl Generator {
    fn value(&mut self, bank: Bank, rematerialise: bool) -> VReg {
        let size = if self.random.chance(50) { 4 } else { 8 };
        let v = self.code.vregs.push(VRegInfo { bank, size, rematerialise });
        self.defined[self.block].push(v);
        v
    }

    /// A value of the bank that is defined where `block` ends.
    fn any_of(&mut self, bank: Bank, block: usize, size: Option<u8>) -> Option<VReg> {
        let code = &self.code;
        let mut list: Vec<VReg> = Vec::new();
        for (b, values) in self.defined.iter().enumerate() {
            if self.dominators[block] >> b & 1 != 0 {
                list.extend(values.iter().filter(|v| {
                    let info = code.vregs[**v];
                    info.bank == bank && size.is_none_or(|s| info.size == s)
                }));
            }
        }
        if list.is_empty() {
            return None;
        }
        // Recent values are used more, but old ones too.
        let n = list.len();
        let back =
            if self.random.chance(50) { self.random.below(n.min(4)) } else { self.random.below(n) };
        Some(list[n - 1 - back])
    }

    fn used(&mut self, bank: Bank, constraint: Constraint) -> Operand {
        let v = self.any_of(bank, self.block, None).expect("parameters of both banks");
        Operand { reg: v, role: Role::Use, constraint }
    }

    fn emit(&mut self, op: u16, operands: &[Operand], clobbers: PRegSet) {
        let mut inst = MInst::new(op, 8);
        inst.first = self.code.operands.len() as u32;
        inst.count = operands.len() as u16;
        if !clobbers.is_empty() {
            inst.clobbers = self.code.clobbers.len() as u16;
            self.code.clobbers.push(clobbers);
        }
        self.code.operands.extend(operands);
        self.insts.push(inst);
    }

    fn def(&mut self, bank: Bank, constraint: Constraint) -> Operand {
        Operand { reg: self.value(bank, false), role: Role::Def, constraint }
    }

    fn block(&mut self, b: usize, length: usize) {
        self.block = b;
        self.defined.push(Vec::new());
        let id = BlockId::new(b);
        if b == 0 {
            let mut params = Vec::new();
            for n in 0..1 + self.random.below(4) {
                params.push(self.def(Bank::Int, Constraint::Fixed(r(n as u8))));
            }
            params.push(self.def(Bank::Float, Constraint::Fixed(f(0))));
            self.emit(op::PARAMS, &params, PRegSet::EMPTY);
        } else if self.code.blocks[id].preds.len() > 1 || self.random.chance(5) {
            for _ in 0..self.random.below(5) {
                let bank = self.bank();
                let to = self.value(bank, false);
                self.code.blocks[id].phis.push(MPhi { to, args: SmallVec::new() });
            }
        }
        for _ in 0..self.random.below(length + 1) {
            self.instruction();
        }
        match self.code.blocks[id].succs.len() {
            0 => {
                let mut operands = Vec::new();
                if self.random.chance(70) {
                    operands.push(self.used(Bank::Int, Constraint::Fixed(r(0))));
                }
                if self.random.chance(30) {
                    operands.push(self.used(Bank::Float, Constraint::Fixed(f(0))));
                }
                self.emit(op::RETURN, &operands, PRegSet::EMPTY);
            }
            1 => self.emit(op::JUMP, &[], PRegSet::EMPTY),
            _ => {
                let mut operands = Vec::new();
                for _ in 0..self.random.below(3) {
                    operands.push(self.used(Bank::Int, Constraint::Reg));
                }
                self.emit(99, &operands, PRegSet::EMPTY);
            }
        }
        self.code.blocks[id].insts = std::mem::take(&mut self.insts);
    }

    fn bank(&mut self) -> Bank {
        if self.random.chance(75) { Bank::Int } else { Bank::Float }
    }

    fn instruction(&mut self) {
        let bank = self.bank();
        let last = if self.random.chance(50) { Constraint::Any } else { Constraint::Reg };
        match self.random.below(16) {
            0 | 1 => {
                let reg = self.value(bank, true);
                let def = Operand { reg, role: Role::Def, constraint: Constraint::Reg };
                self.emit(20, &[def], PRegSet::EMPTY);
            }
            2 | 3 => {
                let used = self.used(bank, last);
                let other = self.bank();
                let def = self.def(other, Constraint::Reg);
                self.emit(21, &[def, used], PRegSet::EMPTY);
            }
            4..=6 => {
                let (a, b) = (self.used(bank, Constraint::Reg), self.used(bank, last));
                let def = self.def(bank, Constraint::Reuse(1));
                self.emit(22, &[def, a, b], PRegSet::EMPTY);
            }
            7 => {
                let (a, b) = (self.used(bank, Constraint::Reg), self.used(bank, Constraint::Reg));
                let def = self.def(bank, Constraint::Reg);
                self.emit(23, &[def, a, b], PRegSet::EMPTY);
            }
            8 | 9 => {
                let used = self.used(bank, Constraint::Reg);
                let def = self.def(bank, Constraint::Reg);
                self.emit(op::COPY, &[def, used], PRegSet::EMPTY);
            }
            10 => self.division(last),
            11 => {
                let a = self.used(Bank::Int, Constraint::Reg);
                let b = self.used(Bank::Int, Constraint::Fixed(r(1)));
                let def = self.def(Bank::Int, Constraint::Reuse(1));
                self.emit(25, &[def, a, b], PRegSet::EMPTY);
            }
            12 | 13 => self.call(),
            14 => self.scratch(bank),
            _ => {
                let operands: Vec<Operand> = (0..1 + self.random.below(2))
                    .map(|_| self.used(Bank::Int, Constraint::Reg))
                    .collect();
                self.emit(26, &operands, PRegSet::EMPTY);
            }
        }
    }

    fn division(&mut self, last: Constraint) {
        let a = self.used(Bank::Int, Constraint::Fixed(r(0)));
        let b = self.used(Bank::Int, Constraint::Fixed(r(2)));
        let c = self.used(Bank::Int, last);
        let quotient = self.def(Bank::Int, Constraint::Fixed(r(0)));
        let rest = self.def(Bank::Int, Constraint::Fixed(r(2)));
        self.emit(24, &[quotient, rest, a, b, c], PRegSet::EMPTY);
    }

    fn call(&mut self) {
        let mut operands = Vec::new();
        for n in 0..self.random.below(5) {
            operands.push(self.used(Bank::Int, Constraint::Fixed(r(n as u8))));
        }
        if self.random.chance(40) {
            operands.push(self.used(Bank::Float, Constraint::Fixed(f(0))));
        }
        if self.random.chance(30) {
            operands.push(self.used(Bank::Int, Constraint::Reg));
        }
        let mut clobbers = TOY.caller_saved;
        for (bank, to) in [(Bank::Int, r(0)), (Bank::Int, r(2)), (Bank::Float, f(0))] {
            if self.random.chance(40) {
                operands.push(self.def(bank, Constraint::Fixed(to)));
                if self.random.chance(50) {
                    clobbers.remove(to);
                }
            }
        }
        self.emit(27, &operands, clobbers);
    }

    /// Instructions with early definitions or destroyed operands.
    fn scratch(&mut self, bank: Bank) {
        if self.random.chance(50) {
            let constraint =
                if self.random.chance(20) { Constraint::Fixed(r(3)) } else { Constraint::Reg };
            let bank = if constraint == Constraint::Reg { bank } else { Bank::Int };
            let used = self.used(Bank::Int, Constraint::Reg);
            let reg = self.value(bank, false);
            let early = Operand { reg, role: Role::EarlyDef, constraint };
            self.emit(28, &[early, used], PRegSet::EMPTY);
        } else {
            let operands: Vec<Operand> = [r(3), r(4), r(1)]
                .into_iter()
                .map(|to| self.used(Bank::Int, Constraint::Fixed(to)))
                .collect();
            self.emit(29, &operands, PRegSet::of(&[r(3), r(4), r(1)]));
        }
    }

    fn phi_args(&mut self) {
        for b in self.code.blocks.indices() {
            let preds = self.code.blocks[b].preds.clone();
            let mut phis = std::mem::take(&mut self.code.blocks[b].phis);
            for phi in &mut phis {
                let info = self.code.vregs[phi.to];
                for &p in &preds {
                    let arg = self.any_of(info.bank, p.index(), Some(info.size));
                    let arg = arg.or_else(|| self.any_of(info.bank, p.index(), Some(8)));
                    let arg = arg.or_else(|| self.any_of(info.bank, p.index(), None));
                    phi.args.push((p, arg.expect("parameters of both banks")));
                }
            }
            self.code.blocks[b].phis = phis;
        }
        // A phi may not be wider than its arguments.
        let code = &mut self.code;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for phi in code.blocks.iter().flat_map(|block| &block.phis) {
                let size = phi.args.iter().map(|(_, a)| code.vregs[*a].size).min().unwrap_or(8);
                let known = &mut code.vregs[phi.to].size;
                changed |= size < *known;
                *known = size.min(*known);
            }
        }
    }
}

/// A function of that shape: each block stores the parameter and goes to its successors.
pub fn shape(graph: &[(&[usize], f32)]) -> MFunction {
    let mut code = function(0);
    code.blocks = IndexVec::filled(MBlock::default(), graph.len());
    code.operands.clear();
    code.returns_twice = false;
    let v = VReg::new(0);
    code.vregs = IndexVec::filled(VRegInfo { bank: Bank::Int, size: 8, rematerialise: false }, 1);
    let operand = |role, constraint| Operand { reg: v, role, constraint };
    for (b, (succs, frequency)) in graph.iter().enumerate() {
        let end = match succs.len() {
            0 => op::RETURN,
            1 => op::JUMP,
            _ => 99,
        };
        let mut insts = vec![MInst::new(26, 8), MInst::new(end, 8)];
        insts[0].first = code.operands.len() as u32;
        insts[0].count = 1;
        if b == 0 {
            insts[0].op = op::PARAMS;
            code.operands.push(operand(Role::Def, Constraint::Fixed(r(0))));
        } else {
            code.operands.push(operand(Role::Use, Constraint::Reg));
        }
        let block = &mut code.blocks[BlockId::new(b)];
        block.insts = insts;
        block.frequency = *frequency;
        block.succs = succs.iter().map(|&s| BlockId::new(s)).collect();
        for &s in *succs {
            code.blocks[BlockId::new(s)].preds.push(BlockId::new(b));
        }
    }
    code
}

/// The function and its steps, for failures.
fn dump(code: &MFunction, allocation: &Allocation) -> String {
    let mut text = String::new();
    for (b, block) in code.blocks.enumerate() {
        let _ = writeln!(text, "{b:?} -> {:?}  x{}", block.succs, block.frequency);
        for phi in &block.phis {
            let _ = writeln!(text, "    {:?} = phi {:?}", phi.to, phi.args);
        }
        for (i, inst) in block.insts.iter().enumerate() {
            let operands: Vec<String> = code
                .operands(inst)
                .iter()
                .map(|o| {
                    let kind = match o.role {
                        Role::Use => "",
                        Role::Def => "=",
                        Role::EarlyDef => "=!",
                    };
                    let info = code.vregs[o.reg];
                    let remake = if info.rematerialise { "'" } else { "" };
                    format!("{kind}{:?}{remake}.{} {:?}", o.reg, info.size, o.constraint)
                })
                .collect();
            let _ = writeln!(text, "    {i}: op{} {}", inst.op, operands.join(", "));
        }
        for step in allocation.steps.get(b).into_iter().flatten() {
            let _ = write!(text, "        {step:?}");
            if let Step::Inst(i) = step {
                let inst = &block.insts[*i as usize];
                for k in 0..inst.count as usize {
                    let place = allocation.locations[inst.first as usize + k];
                    let _ = write!(text, " {:?}", place);
                }
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics unless the function of that seed is allocated well under several limits.
    fn try_seed(seed: u64) {
        let code = function(seed);
        for max_regs in [None, Some(6), Some(4), Some(3)] {
            let options = Options { max_regs };
            let allocation = std::panic::catch_unwind(|| allocate(&code, &TOY, &options))
                .unwrap_or_else(|_| {
                    panic!("seed {seed}, {max_regs:?}:\n{}", dump(&code, &Allocation::default()))
                });
            if let Err(error) = check(&code, &allocation, &TOY) {
                let text = dump(&code, &allocation);
                panic!("seed {seed}, {max_regs:?}: {error}\n{text}");
            }
        }
    }

    #[test]
    fn random_functions_are_allocated_right() {
        // How many from which seed on; for long runs by hand.
        let number = |name, default| {
            std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
        };
        let first = number("REGALLOC_FIRST", 0);
        for seed in first..first + number("REGALLOC_SEEDS", 500) {
            try_seed(seed);
        }
    }

    #[test]
    fn the_checker_refuses_what_is_wrong() {
        let (mut refused, mut tried) = (0, 0);
        for seed in 0..300 {
            let code = function(seed);
            let good = allocate(&code, &TOY, &Options { max_regs: Some(4) });
            let mut random = Random::new(seed);
            let mut bad = good.clone();
            let b = BlockId::new(random.below(code.blocks.len()));
            let steps = &mut bad.steps[b];
            let moves: Vec<usize> =
                (0..steps.len()).filter(|&n| !matches!(steps[n], Step::Inst(_))).collect();
            let Some(&n) = moves.get(random.below(moves.len().max(1))) else { continue };
            tried += 1;
            match &mut steps[n] {
                Step::Move { to: Location::Reg(to), .. } if random.chance(50) => *to = r(6),
                _ => drop(steps.remove(n)),
            }
            refused += u32::from(check(&code, &bad, &TOY).is_err());
        }
        // A few moves are of values that nothing needs on that path.
        assert!(refused * 10 >= tried * 8, "only {refused} of {tried} are refused");
    }
}
