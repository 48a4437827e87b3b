//! Machine code as text for people: what `-d` shows of selection and allocation. It is not read
//! back.

use super::Target;
use super::machine::{
    Address, Allocation, Base, Constraint, Location, MFunction, MInst, Operand, Role, Step, op,
};
use crate::ir::{BlockId, Module};
use std::io::Write;

/// Prints `code`; with an allocation, as it stands after that.
pub fn print(
    target: &Target,
    module: &Module,
    code: &MFunction,
    allocation: Option<&Allocation>,
    out: &mut Vec<u8>,
) {
    let dump = Dump { target, module, code, allocation };
    for (id, block) in code.blocks.enumerate() {
        line(out, format_args!("{id:?}  depth {} frequency {}", block.depth, block.frequency));
        for phi in &block.phis {
            let args: Vec<String> =
                phi.args.iter().map(|(from, reg)| format!("{from:?} {reg:?}")).collect();
            line(out, format_args!("\t{:?} = phi {}", phi.to, args.join(", ")));
        }
        match allocation {
            None => block.insts.iter().for_each(|i| line(out, format_args!("\t{}", dump.inst(i)))),
            Some(a) => {
                a.steps[id].iter().for_each(|s| line(out, format_args!("\t{}", dump.step(id, s))))
            }
        }
        line(out, format_args!("\t-> {:?}", block.succs));
    }
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a vector takes all");
}

struct Dump<'a> {
    target: &'a Target,
    module: &'a Module,
    code: &'a MFunction,
    allocation: Option<&'a Allocation>,
}

impl Dump<'_> {
    fn step(&self, block: BlockId, step: &Step) -> String {
        match *step {
            Step::Inst(n) => self.inst(&self.code.blocks[block].insts[n as usize]),
            Step::Move { from, to, size } => {
                format!("move{size} {} <- {}", location(to), location(from))
            }
            Step::Swap(a, b) => format!("swap {a:?}, {b:?}"),
            Step::Rematerialise { block, inst, to } => {
                let inst = &self.code.blocks[block].insts[inst as usize];
                format!("again to {to:?}: {}", self.inst(inst))
            }
        }
    }

    fn inst(&self, inst: &MInst) -> String {
        let mut text = format!("{}.{}", self.name(inst), inst.size);
        for (n, operand) in self.code.operands(inst).iter().enumerate() {
            text += if n == 0 { " " } else { ", " };
            text += &operand_text(operand);
            if let Some(place) = self.allocation.and_then(|a| a.locations[inst.first as usize + n])
            {
                text += &format!("={}", location(place));
            }
        }
        if let Some(id) = inst.address {
            text += &format!(" [{}]", self.address(&self.code.addresses[id]));
        }
        if inst.imm != 0 {
            text += &format!(" #{}", inst.imm);
        }
        if inst.cond != 0 {
            text += &format!(" cond {}", inst.cond);
        }
        if inst.clobbers != 0 {
            text += &format!(" clobbers {:?}", self.code.clobbers(inst));
        }
        text
    }

    fn name(&self, inst: &MInst) -> &'static str {
        match inst.op {
            op::NOP => "nop",
            op::PARAMS => "params",
            op::COPY => "copy",
            op::JUMP => "jump",
            op::RETURN => "return",
            op::TRAP => "trap",
            op::LOCATION => "location",
            row => (self.target.row_name)(row),
        }
    }

    fn address(&self, address: &Address) -> String {
        let mut text = match address.base {
            Base::None => String::new(),
            Base::Reg(n) => format!("operand {n}"),
            Base::Slot(slot) => format!("{slot:?}"),
            Base::Incoming => "incoming".into(),
            Base::Outgoing => "outgoing".into(),
            Base::Symbol(symbol, access) => {
                let name = String::from_utf8_lossy(self.module.symbols.name(symbol));
                format!("{access:?} ${name}")
            }
            Base::Pool(bits, size) => format!("{size} bytes {bits:#x}"),
        };
        if let Some(index) = address.index {
            text += &format!(" + {} * operand {index}", address.scale);
        }
        if address.disp != 0 {
            text += &format!(" {:+}", address.disp);
        }
        text
    }
}

fn operand_text(operand: &Operand) -> String {
    let role = match operand.role {
        Role::Use => "",
        Role::Def => "=",
        Role::EarlyDef => "=&",
    };
    let constraint = match operand.constraint {
        Constraint::Reg => String::new(),
        Constraint::Any => "/m".into(),
        Constraint::Fixed(r) => format!("@{r:?}"),
        Constraint::Reuse(n) => format!("@operand {n}"),
    };
    format!("{role}{:?}{constraint}", operand.reg)
}

fn location(place: Location) -> String {
    match place {
        Location::Reg(r) => format!("{r:?}"),
        Location::Spill(s) => format!("{s:?}"),
    }
}
