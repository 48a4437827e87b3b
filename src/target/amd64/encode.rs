//! Encodes final instructions. Where there is a choice, the bytes are those that GNU as makes of
//! the printed line: register to register takes the opcode that stores, immediates of one byte and
//! the accumulator have their short forms, and REX is there only if something in it is set.
//! (Intel's manual, volume 2, chapter 2 and the pages of the instructions.)

use super::codes::{self, Prefix, Style};
use super::regs::{RAX, RBP, RSP};
use crate::ir::{Access, Width};
use crate::target::encoding::{Code, Encoding, Form, Goal, Jump, Machine, Relocation};
use crate::target::machine::{Bank, PReg};
use crate::target::{Arg, Instruction, Memory, MemoryBase};

/// `Target::object`.
pub static ENCODING: Encoding = Encoding {
    machine: Machine::X86_64,
    encode,
    forms,
    jump,
    relocations: RELOCATIONS,
    address,
    resolve,
    pad,
};

// Numbers of relocations.
const PC32: u8 = 0;
const PLT32: u8 = 1;
const GOTPCREL: u8 = 2;
const GOTPCRELX: u8 = 3;
const REX_GOTPCRELX: u8 = 4;
const GOTTPOFF: u8 = 5;
const TPOFF32: u8 = 6;
const ABS32S: u8 = 7;
const ABS64: u8 = 8;
const ABS32: u8 = 9;
const ABS16: u8 = 10;
const ABS8: u8 = 11;

const fn relocation(number: u8, elf: u32) -> Relocation {
    Relocation { elf, relative: false, named: false, thread: false, local: number }
}

const fn table_entry(number: u8, elf: u32) -> Relocation {
    Relocation { named: true, ..relocation(number, elf) }
}

/// The System V supplement for x86-64, table 4.9.
static RELOCATIONS: &[Relocation] = &[
    Relocation { relative: true, ..relocation(PC32, 2) },
    // What is local needs no entry of the linkage table.
    Relocation { relative: true, local: PC32, ..relocation(PLT32, 4) },
    table_entry(GOTPCREL, 9),
    table_entry(GOTPCRELX, 41),
    table_entry(REX_GOTPCRELX, 42),
    Relocation { thread: true, ..table_entry(GOTTPOFF, 22) },
    Relocation { thread: true, ..table_entry(TPOFF32, 23) },
    relocation(ABS32S, 11),
    relocation(ABS64, 1),
    relocation(ABS32, 10),
    relocation(ABS16, 12),
    relocation(ABS8, 14),
];

fn address(width: Width) -> u8 {
    match width {
        Width::B => ABS8,
        Width::H => ABS16,
        Width::W => ABS32,
        Width::L => ABS64,
    }
}

fn resolve(_kind: u8, value: i64, at: &mut [u8]) {
    // Only relative ones are known, and all of those have 4 bytes.
    at[..4].copy_from_slice(&(value as i32).to_le_bytes());
}

/// The kind of jumps that have no condition; the others are numbers of conditions.
const ALWAYS: u8 = 16;

const SHORT: Form = Form { length: 2, least: 2 - 128, greatest: 2 + 127 };
const FAR: i64 = i32::MAX as i64;
static JUMP: [Form; 2] = [SHORT, Form { length: 5, least: -FAR, greatest: FAR }];
static BRANCH: [Form; 2] = [SHORT, Form { length: 6, least: -FAR, greatest: FAR }];

fn forms(kind: u8) -> &'static [Form] {
    if kind == ALWAYS { &JUMP } else { &BRANCH }
}

fn jump(jump: &Jump, form: usize, distance: i64, out: &mut Vec<u8>) {
    let from_end = distance - i64::from(forms(jump.kind)[form].length);
    match (form, jump.kind) {
        (0, ALWAYS) => out.extend_from_slice(&[0xeb, from_end as u8]),
        (0, condition) => out.extend_from_slice(&[0x70 | condition, from_end as u8]),
        (_, ALWAYS) => out.push(0xe9),
        (_, condition) => out.extend_from_slice(&[0x0f, 0x80 | condition]),
    }
    if form != 0 {
        out.extend_from_slice(&(from_end as i32).to_le_bytes());
    }
}

/// What GNU as fills code with: the longest of these as often as it fits, then one of the rest.
static NOPS: [&[u8]; 11] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

fn pad(mut count: usize, out: &mut Vec<u8>) {
    let longest = NOPS.len();
    // More than that many are jumped over.
    if count / longest > 7 {
        count -= 2;
        if count <= 127 {
            out.extend_from_slice(&[0xeb, count as u8]);
        } else {
            count -= 3;
            out.push(0xe9);
            out.extend_from_slice(&(count as i32).to_le_bytes());
        }
    }
    for _ in 0..count / longest {
        out.extend_from_slice(NOPS[longest - 1]);
    }
    if count % longest > 0 {
        out.extend_from_slice(NOPS[count % longest - 1]);
    }
}

/// Where an opcode is looked up.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Map {
    One,
    /// After 0f.
    Two,
    /// After 0f 38.
    Three,
}

/// What stands before an operand in registers or memory.
#[derive(Copy, Clone)]
struct Opcode {
    /// 66, f3, f2, or 0 for none.
    prefix: u8,
    map: Map,
    code: u8,
    /// REX.W.
    wide: bool,
    /// REX whatever is in it: without it four byte registers are others.
    rex: bool,
    /// Bytes that come after the operand: what is relative counts from their end.
    after: u8,
}

impl Opcode {
    const fn new(code: u8) -> Opcode {
        Opcode { prefix: 0, map: Map::One, code, wide: false, rex: false, after: 0 }
    }

    const fn two(prefix: u8, code: u8) -> Opcode {
        Opcode { prefix, map: Map::Two, ..Opcode::new(code) }
    }

    /// An integer instruction on operands of `size`, given its opcode for bytes.
    fn sized(code: u8, size: u8, operands: &[Arg]) -> Opcode {
        Opcode {
            prefix: if size == 2 { 0x66 } else { 0 },
            wide: size == 8,
            rex: size == 1 && operands.iter().any(needs_rex),
            ..Opcode::new(code | u8::from(size > 1))
        }
    }

    fn after(self, bytes: u8) -> Opcode {
        Opcode { after: bytes, ..self }
    }
}

/// True for spl, bpl, sil and dil.
fn needs_rex(arg: &Arg) -> bool {
    matches!(*arg, Arg::Reg(r) if (4..8).contains(&r.number()))
}

/// `Encoding::encode`
fn encode(i: &Instruction, out: &mut Code) {
    use codes::Encoding as E;
    let row = codes::row(i.op);
    let args = i.args.as_slice();
    match row.encoding {
        E::Fixed(bytes) => out.bytes.extend_from_slice(bytes),
        E::Mov => mov(i.size, args[0], args[1], out),
        E::Movabs => {
            in_opcode(Opcode { wide: true, ..Opcode::new(0xb8) }, register(args[0]), out);
            out.bytes.extend_from_slice(&immediate(args[1]).to_le_bytes());
        }
        E::MovFs => {
            let cell = Memory { base: MemoryBase::None, index: None, scale: 1, disp: 0 };
            out.bytes.push(FS);
            let op = Opcode { wide: true, ..Opcode::new(0x8b) };
            operand(op, register(args[0]), Arg::Memory(cell), out);
        }
        E::MovTlsIndex => {
            push_rex(Opcode::new(0x8b), register(args[0]) >> 3 << 2, out);
            out.bytes.extend_from_slice(&[0x8b, 0x05 | (register(args[0]) & 7) << 3]);
            relative(PC32, Goal::System("_tls_index"), 0, 0, out);
        }
        E::MovTlsTable => {
            let cell = Memory { base: MemoryBase::None, index: None, scale: 1, disp: 0x58 };
            out.bytes.push(GS);
            let op = Opcode { wide: true, ..Opcode::new(0x8b) };
            operand(op, register(args[0]), Arg::Memory(cell), out);
        }
        E::Chkstk => {
            out.bytes.push(0xe8);
            relative(PLT32, Goal::System("___chkstk_ms"), 0, 0, out);
        }
        E::Arithmetic(n) => arithmetic(n, i.size, args[0], args[1], out),
        E::Test => test(i.size, args[0], args[1], out),
        E::Xchg => xchg(i.size, args[0], args[1], out),
        E::Imul => imul(i.size, args, out),
        E::Bswap => {
            let op = Opcode { wide: i.size == 8, ..Opcode::two(0, 0xc8) };
            in_opcode(op, register(args[0]), out);
        }
        E::Movbe => {
            let (code, reg, m) = match args[0] {
                Arg::Reg(_) => (0xf0, args[0], args[1]),
                _ => (0xf1, args[1], args[0]),
            };
            let sized = Opcode::sized(code, i.size, &[]);
            operand(Opcode { map: Map::Three, code, ..sized }, register(reg), m, out);
        }
        E::Popcnt => {
            let op = Opcode { wide: i.size == 8, ..Opcode::two(0xf3, 0xb8) };
            operand(op, register(args[0]), args[1], out);
        }
        E::Vex(prefix, map, code) => vex(i, prefix, map, code, out),
        E::InOpcode(code) => in_opcode(Opcode::new(code), register(args[0]), out),
        E::Unary(code, digit) => operand(Opcode::sized(code, i.size, args), digit, args[0], out),
        E::Shift(digit) => shift(digit, i.size, args[0], args[1], out),
        E::Lea(code) => {
            let op = Opcode { wide: i.size == 8, ..Opcode::new(code) };
            operand_without_segment(op, register(args[0]), args[1], out);
        }
        E::Extend(size, code) => extend(i.size, size, code, args, out),
        E::Vector(prefix, code) => {
            let integer = matches!(row.style, Style::FromInt | Style::ToInt);
            let op = Opcode {
                wide: integer && i.size == 8,
                ..Opcode::two(prefix_byte(prefix, i.size), code)
            };
            operand(op, register(args[0]), args[1], out);
        }
        E::VectorMove(prefix, load, store) => {
            let prefix = prefix_byte(prefix, i.size);
            match args[0] {
                Arg::Reg(d) => operand(Opcode::two(prefix, load), d.number(), args[1], out),
                m => operand(Opcode::two(prefix, store), register(args[1]), m, out),
            }
        }
        E::Bits => bits(i.size, args[0], args[1], out),
        E::Jcc => out.jump(block(args[0]), i.cond, 0),
        E::Jmp => out.jump(block(args[0]), ALWAYS, 0),
        E::Set => {
            let op = Opcode { rex: needs_rex(&args[0]), ..Opcode::two(0, 0x90 | i.cond) };
            operand(op, 0, args[0], out);
        }
        E::Cmov => {
            let op = Opcode { wide: i.size == 8, ..Opcode::two(0, 0x40 | i.cond) };
            operand(op, register(args[0]), args[1], out);
        }
        E::Call => call(args[0], out),
        E::CallInd => operand(Opcode::new(0xff), 2, args[0], out),
    }
}

fn register(arg: Arg) -> u8 {
    match arg {
        Arg::Reg(r) => r.number(),
        _ => unreachable!("the operand is a register"),
    }
}

fn immediate(arg: Arg) -> i64 {
    match arg {
        Arg::Imm(value) => value,
        _ => unreachable!("the operand is an immediate"),
    }
}

fn block(arg: Arg) -> crate::ir::BlockId {
    match arg {
        Arg::Block(b) => b,
        _ => unreachable!("jumps go to blocks"),
    }
}

fn prefix_byte(prefix: Prefix, size: u8) -> u8 {
    match (prefix, size) {
        (Prefix::None, _) => 0,
        (Prefix::P66, _) => 0x66,
        (Prefix::F3, _) => 0xf3,
        (Prefix::F2, _) => 0xf2,
        (Prefix::Scalar, 8) => 0xf2,
        (Prefix::Scalar, _) => 0xf3,
        (Prefix::Packed, 8) => 0x66,
        (Prefix::Packed, _) => 0,
    }
}

/// Appends an immediate of an operation of that size; those of 8 bytes have 4.
fn push_immediate(value: i64, size: u8, out: &mut Code) {
    out.bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(size.min(4))]);
}

fn mov(size: u8, to: Arg, from: Arg, out: &mut Code) {
    match (to, from) {
        (Arg::Reg(d), Arg::Imm(value)) if size < 8 => {
            let code = if size == 1 { 0xb0 } else { 0xb8 };
            let op = Opcode { code, ..Opcode::sized(code, size, &[to]) };
            in_opcode(op, d.number(), out);
            push_immediate(value, size, out);
        }
        (_, Arg::Imm(value)) => {
            operand(Opcode::sized(0xc6, size, &[to]).after(size.min(4)), 0, to, out);
            push_immediate(value, size, out);
        }
        (_, Arg::Reg(s)) => operand(Opcode::sized(0x88, size, &[to, from]), s.number(), to, out),
        _ => operand(Opcode::sized(0x8a, size, &[to]), register(to), from, out),
    }
}

fn arithmetic(n: u8, size: u8, a: Arg, b: Arg, out: &mut Code) {
    match b {
        Arg::Imm(value) if size > 1 && i8::try_from(value).is_ok() => {
            let op = Opcode { code: 0x83, ..Opcode::sized(0x83, size, &[]) };
            operand(op.after(1), n, a, out);
            out.bytes.push(value as u8);
        }
        Arg::Imm(value) => {
            if a == Arg::Reg(RAX) {
                accumulator(Opcode::sized(n << 3 | 4, size, &[]), out);
            } else {
                operand(Opcode::sized(0x80, size, &[a]).after(size.min(4)), n, a, out);
            }
            push_immediate(value, size, out);
        }
        Arg::Reg(s) => operand(Opcode::sized(n << 3, size, &[a, b]), s.number(), a, out),
        _ => operand(Opcode::sized(n << 3 | 2, size, &[a]), register(a), b, out),
    }
}

fn test(size: u8, a: Arg, b: Arg, out: &mut Code) {
    match b {
        Arg::Imm(value) => {
            if a == Arg::Reg(RAX) {
                accumulator(Opcode::sized(0xa8, size, &[]), out);
            } else {
                operand(Opcode::sized(0xf6, size, &[a]).after(size.min(4)), 0, a, out);
            }
            push_immediate(value, size, out);
        }
        Arg::Reg(s) => operand(Opcode::sized(0x84, size, &[a, b]), s.number(), a, out),
        _ => operand(Opcode::sized(0x84, size, &[a]), register(a), b, out),
    }
}

fn xchg(size: u8, a: Arg, b: Arg, out: &mut Code) {
    let op = Opcode { wide: size == 8, ..Opcode::new(0x90) };
    match (register(a), register(b)) {
        (0, other) | (other, 0) => in_opcode(op, other, out),
        (_, b) => operand(Opcode { code: 0x87, ..op }, b, a, out),
    }
}

fn imul(size: u8, args: &[Arg], out: &mut Code) {
    let wide = size == 8;
    let d = register(args[0]);
    match args.get(2).map(|&a| immediate(a)) {
        None => operand(Opcode { wide, ..Opcode::two(0, 0xaf) }, d, args[1], out),
        Some(value) if i8::try_from(value).is_ok() => {
            operand(Opcode { wide, after: 1, ..Opcode::new(0x6b) }, d, args[1], out);
            out.bytes.push(value as u8);
        }
        Some(value) => {
            operand(Opcode { wide, after: 4, ..Opcode::new(0x69) }, d, args[1], out);
            push_immediate(value, 4, out);
        }
    }
}

fn shift(digit: u8, size: u8, a: Arg, count: Arg, out: &mut Code) {
    match count {
        Arg::Imm(1) => operand(Opcode::sized(0xd0, size, &[a]), digit, a, out),
        Arg::Imm(n) => {
            operand(Opcode::sized(0xc0, size, &[a]).after(1), digit, a, out);
            out.bytes.push(n as u8);
        }
        _ => operand(Opcode::sized(0xd2, size, &[a]), digit, a, out),
    }
}

/// Extends operands of `from` bytes to `to` bytes.
fn extend(from: u8, to: u8, code: u8, args: &[Arg], out: &mut Code) {
    let op = match from {
        1 => Opcode { rex: needs_rex(&args[1]), ..Opcode::two(0, code) },
        2 => Opcode::two(0, code + 1),
        _ => Opcode::new(0x63),
    };
    operand(Opcode { wide: to == 8, ..op }, register(args[0]), args[1], out);
}

/// Bits of an integer register or of memory to or from a float register.
fn bits(size: u8, to: Arg, from: Arg, out: &mut Code) {
    let wide = size == 8;
    match (to, from) {
        (Arg::Reg(d), Arg::Reg(s)) if d.bank() == Bank::Float => {
            operand(Opcode { wide, ..Opcode::two(0x66, 0x6e) }, d.number(), Arg::Reg(s), out);
        }
        (Arg::Reg(d), Arg::Reg(s)) => {
            operand(Opcode { wide, ..Opcode::two(0x66, 0x7e) }, s.number(), Arg::Reg(d), out);
        }
        (Arg::Reg(d), m) => {
            let op = if wide { Opcode::two(0xf3, 0x7e) } else { Opcode::two(0x66, 0x6e) };
            operand(op, d.number(), m, out);
        }
        (m, s) => {
            let op = Opcode::two(0x66, if wide { 0xd6 } else { 0x7e });
            operand(op, register(s), m, out);
        }
    }
}

fn call(callee: Arg, out: &mut Code) {
    let Arg::Symbol(symbol, access, offset) = callee else {
        unreachable!("only symbols are called by name")
    };
    out.bytes.push(0xe8);
    // The linkage table has an entry for a function, not for what is behind its beginning.
    let kind = if access == Access::Extern || offset == 0 { PLT32 } else { PC32 };
    out.fix(kind, Goal::Symbol(symbol), offset - 4);
    out.bytes.extend_from_slice(&[0; 4]);
}

/// An instruction on the accumulator and an immediate.
fn accumulator(op: Opcode, out: &mut Code) {
    if op.prefix != 0 {
        out.bytes.push(op.prefix);
    }
    if op.wide {
        out.bytes.push(0x48);
    }
    out.bytes.push(op.code);
}

/// An instruction with the number of a register in its opcode.
fn in_opcode(op: Opcode, r: u8, out: &mut Code) {
    if op.prefix != 0 {
        out.bytes.push(op.prefix);
    }
    push_rex(op, r >> 3, out);
    if op.map == Map::Two {
        out.bytes.push(0x0f);
    }
    out.bytes.push(op.code | r & 7);
}

fn push_rex(op: Opcode, rxb: u8, out: &mut Code) {
    let rex = rxb | u8::from(op.wide) << 3;
    if rex != 0 || op.rex {
        out.bytes.push(0x40 | rex);
    }
}

/// The segment of the thread's variables.
const FS: u8 = 0x64;

/// The segment of what Windows keeps of a thread.
const GS: u8 = 0x65;

/// Appends an instruction with the operands reg (or a digit) and r/m.
fn operand(op: Opcode, reg: u8, rm: Arg, out: &mut Code) {
    if let Arg::Memory(m) = rm
        && let MemoryBase::Symbol(_, Access::Thread) = m.base
    {
        out.bytes.push(FS);
    }
    operand_without_segment(op, reg, rm, out);
}

fn operand_without_segment(op: Opcode, reg: u8, rm: Arg, out: &mut Code) {
    if op.prefix != 0 {
        out.bytes.push(op.prefix);
    }
    let rxb = (reg >> 3) << 2 | extension(rm);
    push_rex(op, rxb, out);
    match op.map {
        Map::One => {}
        Map::Two => out.bytes.push(0x0f),
        Map::Three => out.bytes.extend_from_slice(&[0x0f, 0x38]),
    }
    out.bytes.push(op.code);
    let cell = match op {
        Opcode { map: Map::One, prefix: 0, code, .. } if may_relax(code, reg) => {
            if op.wide || op.rex || rxb != 0 { REX_GOTPCRELX } else { GOTPCRELX }
        }
        _ => GOTPCREL,
    };
    mod_rm(reg, rm, op.after, cell, out);
}

/// True if the linker may make something shorter of the instruction when it need not go through
/// the table: a load, `test`, arithmetic, or an indirect call (System V supplement, B.2).
fn may_relax(code: u8, reg: u8) -> bool {
    matches!(code, 0x8b | 0x85) || code & !0x38 == 0x03 || code == 0xff && reg == 2
}

/// An instruction with a VEX prefix of three bytes: reg, r/m, and a third operand, which is a
/// register in the prefix or an immediate.
fn vex(i: &Instruction, prefix: Prefix, map: u8, code: u8, out: &mut Code) {
    if let Arg::Memory(m) = i.args[1]
        && let MemoryBase::Symbol(_, Access::Thread) = m.base
    {
        out.bytes.push(FS);
    }
    let reg = register(i.args[0]);
    let (third, after) = match i.args[2] {
        Arg::Reg(r) => (r.number(), 0),
        _ => (0, 1),
    };
    let pp = match prefix {
        Prefix::P66 => 1,
        Prefix::F3 => 2,
        Prefix::F2 => 3,
        Prefix::None | Prefix::Scalar | Prefix::Packed => 0,
    };
    // The bits of registers are kept inverted.
    let rxb = (reg >> 3) << 2 | extension(i.args[1]);
    let wide = u8::from(i.size == 8);
    let bytes = [0xc4, (!rxb & 7) << 5 | map, wide << 7 | (!third & 15) << 3 | pp, code];
    out.bytes.extend_from_slice(&bytes);
    mod_rm(reg, i.args[1], after, GOTPCREL, out);
    if let Arg::Imm(value) = i.args[2] {
        out.bytes.push(value as u8);
    }
}

/// REX.X and REX.B of an operand.
fn extension(rm: Arg) -> u8 {
    let high = |r: PReg| r.number() >> 3;
    match rm {
        Arg::Reg(r) => high(r),
        Arg::Memory(m) => {
            let index = m.index.map_or(0, high);
            match (m.base, is_base(&m)) {
                (MemoryBase::Reg(base), _) => index << 1 | high(base),
                (_, true) => index,
                (_, false) => index << 1,
            }
        }
        _ => unreachable!("the operand is a register or in memory"),
    }
}

/// True if the index of an address with a symbol is printed as its base.
fn is_base(m: &Memory) -> bool {
    m.scale == 1 && matches!(m.base, MemoryBase::Symbol(..))
}

/// Appends ModRM and what follows it: SIB and the displacement. `cell` is the relocation for an
/// entry of the table of addresses.
fn mod_rm(reg: u8, rm: Arg, after: u8, cell: u8, out: &mut Code) {
    let reg = (reg & 7) << 3;
    let m = match rm {
        Arg::Reg(r) => return out.bytes.push(0xc0 | reg | r.number() & 7),
        Arg::Memory(m) => m,
        _ => unreachable!("the operand is a register or in memory"),
    };
    match (m.base, m.index) {
        (MemoryBase::Reg(base), index) => based(reg, base, index, &m, out),
        (MemoryBase::None, index) => {
            out.bytes.extend_from_slice(&[0x04 | reg, no_base(index, m.scale)]);
            push_disp32(m.disp, out);
        }
        (MemoryBase::Pool(bits, size), _) => {
            out.bytes.push(0x05 | reg);
            relative(PC32, Goal::Pool(bits, size), m.disp, after, out);
        }
        (MemoryBase::Symbol(symbol, access), index) => {
            let to = Goal::Symbol(symbol);
            let kind = match access {
                Access::Direct => PC32,
                Access::Extern => cell,
                Access::ExternThread => GOTTPOFF,
                Access::Thread => TPOFF32,
            };
            if index.is_none() && kind != TPOFF32 {
                out.bytes.push(0x05 | reg);
                return relative(kind, to, m.disp, after, out);
            }
            match index {
                Some(base) if m.scale == 1 => far_from(reg, base, out),
                _ => out.bytes.extend_from_slice(&[0x04 | reg, no_base(index, m.scale)]),
            }
            out.fix(if kind == PC32 { ABS32S } else { kind }, to, m.disp);
            out.bytes.extend_from_slice(&[0; 4]);
        }
    }
}

/// Appends 4 bytes relative to the end of the instruction, `after` bytes behind them.
fn relative(kind: u8, to: Goal, disp: i64, after: u8, out: &mut Code) {
    out.fix(kind, to, disp - 4 - i64::from(after));
    out.bytes.extend_from_slice(&[0; 4]);
}

fn push_disp32(disp: i64, out: &mut Code) {
    out.bytes.extend_from_slice(&(disp as i32).to_le_bytes());
}

/// SIB of an index without a base.
fn no_base(index: Option<PReg>, scale: u8) -> u8 {
    0x05 | scaled(index, scale)
}

fn scaled(index: Option<PReg>, scale: u8) -> u8 {
    // The number of rsp stands for no index.
    index.map_or(4 << 3, |r| (scale.trailing_zeros() as u8) << 6 | (r.number() & 7) << 3)
}

/// ModRM of a base register with 4 bytes of displacement.
fn far_from(reg: u8, base: PReg, out: &mut Code) {
    out.bytes.push(0x80 | reg | base.number() & 7);
    if base.number() & 7 == RSP.number() {
        out.bytes.push(0x24);
    }
}

/// An address with a base register.
fn based(reg: u8, base: PReg, index: Option<PReg>, m: &Memory, out: &mut Code) {
    let low = base.number() & 7;
    // Without a displacement the number of rbp means something else.
    let mode = match m.disp {
        0 if low != RBP.number() => 0x00,
        -128..=127 => 0x40,
        _ => 0x80,
    };
    if index.is_some() || low == RSP.number() {
        out.bytes.extend_from_slice(&[mode | reg | 0x04, scaled(index, m.scale) | low]);
    } else {
        out.bytes.push(mode | reg | low);
    }
    match mode {
        0x00 => {}
        0x40 => out.bytes.push(m.disp as u8),
        _ => push_disp32(m.disp, out),
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
