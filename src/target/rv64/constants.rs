//! Constants and addresses of symbols in registers.

use super::insts;
use super::isel::Isel;
use super::materialise::{LIMIT, fits12, low12, steps};
use crate::ir::{Access, BlockId, Class, Op, SymbolId};
use crate::target::address::{PartBase, Parts, Term};
use crate::target::constants::Constant;
use crate::target::lower::write;
use crate::target::machine::{Address, Bank, Base, VReg};
use rustc_hash::FxHashMap;

/// Symbols may be this far away from the byte an instruction names: the linker sees offsets of at
/// most 2 GiB from the code to the result, and the program itself takes its part of that.
pub const SYMBOL_REACH: i64 = 1 << 30;

/// A float that is made of an integer: in how many instructions, the move to the float register
/// included.
pub fn float_steps(bits: u64, size: u8) -> Option<FloatSteps> {
    if bits == 0 {
        return Some(FloatSteps::Zero);
    }
    if size == 4 {
        return (steps(i64::from(bits as i32), false).len() == 1).then_some(FloatSteps::Bits);
    }
    let value = f64::from_bits(bits);
    let int = value as i64;
    let exact = (int as f64).to_bits() == bits;
    if exact && fits12(int) {
        return Some(FloatSteps::Integer(int));
    }
    (steps(bits as i64, false).len() == 1).then_some(FloatSteps::Bits)
}

/// How a float is made of an integer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FloatSteps {
    /// The zero register's bits.
    Zero,
    /// Its bits.
    Bits,
    /// A double, by conversion of this.
    Integer(i64),
}

/// Constants of more than one instruction that the code since the last call uses: they are made
/// once, as far as registers suffice. Where exactly is the allocator's business, which makes such
/// values before their first use and again after it has given up their register.
#[derive(Default)]
pub struct Shared {
    rows: Vec<(Constant, VReg)>,
    /// The block that the rows are of.
    block: Option<BlockId>,
    /// The block whose accesses are counted.
    counted: Option<BlockId>,
    /// The block whose start is selected already.
    pub closed: Option<BlockId>,
    /// How often memory is accessed at symbols, by the stretch of code without calls (its first
    /// instruction).
    accesses: FxHashMap<(usize, Constant), u32>,
    /// Where stretches begin.
    starts: Vec<usize>,
}

impl Isel<'_> {
    /// The register that all uses of this constant up to the last call share; `None` if making it
    /// again costs no more, or it is too late.
    pub fn share(&mut self, constant: Constant) -> Option<VReg> {
        let cheap = match constant {
            Constant::Slot(_) => true,
            Constant::Symbol(_, Access::Direct | Access::Thread | Access::Extern, _) => false,
            Constant::Symbol(..) => true,
            Constant::Number(bits, class) if class.is_int() => {
                let value = if class == Class::W { i64::from(bits as i32) } else { bits as i64 };
                steps(value, self.features.zbs).len() == 1
            }
            Constant::Number(bits, _) => bits == 0,
        };
        let far = matches!(constant, Constant::Symbol(_, access, offset)
            if access == Access::Extern && offset != 0
                || !(-SYMBOL_REACH..SYMBOL_REACH).contains(&offset));
        if cheap || far || self.shared.closed == Some(self.b.block) {
            return None;
        }
        debug_assert!(self.shared.rows.is_empty() || self.shared.block == Some(self.b.block));
        self.shared.block = Some(self.b.block);
        if let Some(row) = self.shared.rows.iter().find(|row| row.0 == constant) {
            return Some(row.1);
        }
        let (bank, size) = constant.register();
        let reg = self.b.constant_reg(bank, size);
        self.shared.rows.push((constant, reg));
        Some(reg)
    }

    /// Makes the constants that the code selected since the last call shares, in front of it.
    pub fn make_shared(&mut self) {
        if self.shared.rows.is_empty() {
            return;
        }
        for (constant, reg) in std::mem::take(&mut self.shared.rows) {
            self.make_constant(reg, constant);
        }
        self.b.flush();
    }

    /// Counts the accesses to symbols in the block being selected.
    fn count_accesses(&mut self) {
        self.shared.accesses.clear();
        self.shared.starts.clear();
        let Some(block) = self.b.source else { return };
        let f = self.b.f;
        let mut start = 0;
        self.shared.starts.push(0);
        for (i, inst) in f.blocks[block].insts.iter().enumerate() {
            let address = if inst.op == Op::Call {
                start = i + 1;
                self.shared.starts.push(start);
                continue;
            } else if inst.op.is_load() {
                inst.args[0]
            } else if inst.op.is_store() {
                inst.args[1]
            } else {
                continue;
            };
            let parts = self.take_apart(address);
            if let PartBase::Symbol(symbol, access) = parts.base {
                let base = Constant::Symbol(symbol, access, parts.disp - low12(parts.disp));
                *self.shared.accesses.entry((start, base)).or_default() += 1;
            }
        }
    }

    /// `Select::constant_into`
    pub fn make_constant(&mut self, reg: VReg, constant: Constant) {
        match constant {
            Constant::Slot(slot) => self.make_address(reg, Parts::slot(slot)),
            Constant::Symbol(symbol, access, offset) => {
                self.symbol_into(reg, symbol, access, offset);
            }
            Constant::Number(bits, class) if class.is_int() => {
                let value = if class == Class::W { i64::from(bits as i32) } else { bits as i64 };
                if steps(value, self.features.zbs).len() > LIMIT {
                    self.push_address(insts::LD, &[write(reg)], pool(bits, 8));
                } else {
                    self.b.push(insts::LI, 8, &[write(reg)]).imm = value;
                }
            }
            Constant::Number(bits, class) => {
                let size = class.size() as u8;
                if float_steps(bits, size).is_some() {
                    self.b.push(insts::FLI, size, &[write(reg)]).imm = bits as i64;
                } else {
                    let row = if size == 4 { insts::FLW } else { insts::FLD };
                    self.push_address(row, &[write(reg)], pool(bits, size));
                }
            }
        }
    }

    /// Puts the address of a symbol into `reg`. If that takes another register, `reg` cannot be
    /// made again elsewhere.
    fn symbol_into(&mut self, reg: VReg, symbol: SymbolId, access: Access, offset: i64) {
        let near = (-SYMBOL_REACH..SYMBOL_REACH).contains(&offset);
        let in_place = near && matches!(access, Access::Direct | Access::Thread);
        let disp = if in_place { offset } else { 0 };
        let rest = offset - disp;
        let to = if rest == 0 { reg } else { self.b.constant_reg(Bank::Int, 8) };
        let base = Base::Symbol(symbol, access);
        self.push_address(insts::LEA, &[write(to)], Address { base, index: None, scale: 1, disp });
        if rest != 0 {
            self.b.code.vregs[reg].rematerialise = false;
            self.make_address(reg, Parts { disp: rest, ..Parts::term(Term::Reg(to)) });
        }
    }

    /// The address of an access: that of a symbol by way of a register, where an outer loop or
    /// other accesses need its base too, less what fits a displacement.
    pub fn near_base(&mut self, parts: Parts) -> Parts {
        let PartBase::Symbol(symbol, access) = parts.base else { return parts };
        let low = low12(parts.disp);
        let base = Constant::Symbol(symbol, access, parts.disp - low);
        let reg = self.b.hoist(base).or_else(|| self.shared_base(base));
        match reg {
            Some(reg) => Parts { disp: low, ..Parts::reg(reg) },
            None => parts,
        }
    }

    fn shared_base(&mut self, base: Constant) -> Option<VReg> {
        if self.shared.closed == Some(self.b.block) {
            return None;
        }
        if self.shared.counted != Some(self.b.block) {
            self.shared.counted = Some(self.b.block);
            self.count_accesses();
        }
        let before = self.shared.starts.partition_point(|&start| start <= self.b.position);
        let start = *self.shared.starts.get(before.checked_sub(1)?)?;
        let accesses = self.shared.accesses.get(&(start, base));
        if accesses.is_none_or(|&n| n < 2) {
            return None;
        }
        self.share(base)
    }
}

/// The address of a constant in read-only data.
fn pool(bits: u64, size: u8) -> Address {
    Address { base: Base::Pool(bits, size), index: None, scale: 1, disp: 0 }
}
