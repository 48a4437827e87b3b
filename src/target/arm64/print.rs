//! Prints final instructions as GNU as and clang read them.

use super::insts::{self, kind};
use crate::target::format::{push_hex, push_offset, push_signed, push_unsigned};
use crate::target::machine::{Bank, PReg};
use crate::target::{Arg, Instruction, Named, Names, ObjectFormat};

static X: [&str; 31] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "x30",
];

static W: [&str; 31] = [
    "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13", "w14",
    "w15", "w16", "w17", "w18", "w19", "w20", "w21", "w22", "w23", "w24", "w25", "w26", "w27",
    "w28", "w29", "w30",
];

static CONDITIONS: [&str; 14] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];

static MODIFIERS: [&str; 12] =
    ["lsl", "lsr", "asr", "ror", "uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"];

/// How a part of an address is written: in front of the name for ELF, behind it for Mach-O.
static PARTS: [(&str, &str); 10] = [
    ("", "@PAGE"),
    (":lo12:", "@PAGEOFF"),
    (":got:", "@GOTPAGE"),
    (":got_lo12:", "@GOTPAGEOFF"),
    (":tprel_hi12:", ""),
    (":tprel_lo12_nc:", ""),
    (":gottprel:", ""),
    (":gottprel_lo12:", ""),
    ("", "@TLVPPAGE"),
    ("", "@TLVPPAGEOFF"),
];

/// `Target::print`.
pub fn print(i: &Instruction, names: &Names<'_>, out: &mut Vec<u8>) {
    let row = insts::row(i.op);
    out.extend_from_slice(row.mnemonic.as_bytes());
    let mut args = i.args.iter();
    let mut next = || *args.next().unwrap_or_else(|| panic!("{} lacks an operand", row.name));
    let mut separator: &[u8] = b" ";
    for letter in row.operands.bytes() {
        match letter {
            b'=' => continue,
            b'?' => {
                out.extend_from_slice(CONDITIONS[usize::from(i.cond)].as_bytes());
                continue;
            }
            _ => out.extend_from_slice(separator),
        }
        separator = b", ";
        match letter {
            b'm' => push_memory(out, names, i, [next(), next()]),
            b'c' => out.extend_from_slice(CONDITIONS[usize::from(i.cond)].as_bytes()),
            b'j' => {
                push_immediate(out, next());
                out.extend_from_slice(b", ");
                push_immediate(out, next());
            }
            b'k' => {
                push_immediate(out, next());
                push_shift(out, kind::LSL, next());
            }
            b'l' => {
                let Arg::Imm(value) = next() else { unreachable!("an immediate") };
                out.extend_from_slice(b"#0x");
                push_hex(out, value as u64, if i.size == 8 { 16 } else { 8 });
            }
            b'n' => {
                let Arg::Imm(value) = next() else { unreachable!("an immediate") };
                out.push(b'#');
                out.extend_from_slice(format!("{:?}", expanded(value as u8)).as_bytes());
            }
            b'a' | b'b' => push_target(out, names, next()),
            b'z' => out.extend_from_slice(b"#0.0"),
            b'y' => out.extend_from_slice(b"tpidr_el0"),
            b'u' => push_low(out, names, next()),
            _ => push_operand(out, letter, i.size, next()),
        }
    }
    debug_assert!(args.next().is_none(), "{} has too many operands", row.name);
}

/// The float that `fmov` makes of its eight bits.
fn expanded(imm: u8) -> f64 {
    let value = f64::from(16 + (imm & 15)) / 16.0;
    let exponent = i32::from(imm >> 4 & 7 ^ 4) - 3;
    let value = value * 2f64.powi(exponent);
    if imm & 0x80 != 0 { -value } else { value }
}

fn push_operand(out: &mut Vec<u8>, letter: u8, size: u8, arg: Arg) {
    match arg {
        Arg::Reg(r) => push_register(out, letter, size, r),
        Arg::Imm(_) => push_immediate(out, arg),
        Arg::Modified { reg, kind, amount } => {
            push_register(out, modified(kind, size), size, reg);
            push_modifier(out, kind, amount);
        }
        _ => unreachable!("an operand in a register"),
    }
}

/// The letter of the register that a modifier modifies.
fn modified(kind: u8, size: u8) -> u8 {
    match kind {
        kind::UXTX | kind::SXTX => b'x',
        kind::LSL..=kind::ROR if size == 8 => b'x',
        _ => b'w',
    }
}

fn push_modifier(out: &mut Vec<u8>, kind: u8, amount: u8) {
    if kind == kind::LSL && amount == 0 {
        return;
    }
    out.extend_from_slice(b", ");
    out.extend_from_slice(MODIFIERS[usize::from(kind)].as_bytes());
    if amount != 0 || kind < kind::UXTB {
        out.extend_from_slice(b" #");
        push_unsigned(out, u64::from(amount));
    }
}

fn push_shift(out: &mut Vec<u8>, kind: u8, amount: Arg) {
    if let Arg::Imm(amount) = amount {
        push_modifier(out, kind, amount as u8);
    }
}

fn push_immediate(out: &mut Vec<u8>, arg: Arg) {
    let Arg::Imm(value) = arg else { unreachable!("an immediate") };
    out.push(b'#');
    push_signed(out, value);
}

fn push_register(out: &mut Vec<u8>, letter: u8, size: u8, r: PReg) {
    let number = usize::from(r.number());
    if r.bank() == Bank::Float {
        out.push(match (letter, size) {
            (b's', _) => b's',
            (b'd', _) => b'd',
            (_, 4) => b's',
            (_, 8) => b'd',
            _ => b'q',
        });
        push_unsigned(out, number as u64);
        return;
    }
    let wide = match letter {
        b'x' | b'P' => true,
        b'w' => false,
        _ => size == 8,
    };
    let stack = matches!(letter, b'p' | b'P');
    let name = match (number, wide, stack) {
        (31, true, true) => "sp",
        (31, false, true) => "wsp",
        (31, true, false) => "xzr",
        (31, false, false) => "wzr",
        (_, true, _) => X[number],
        (_, false, _) => W[number],
    };
    out.extend_from_slice(name.as_bytes());
}

/// A base and what is added to it.
fn push_memory(out: &mut Vec<u8>, names: &Names<'_>, i: &Instruction, [base, offset]: [Arg; 2]) {
    out.push(b'[');
    push_operand(out, b'P', 8, base);
    if matches!(i.op, insts::LDR_POST | insts::LDP_POST) {
        out.extend_from_slice(b"], ");
        push_immediate(out, offset);
        return;
    }
    match offset {
        Arg::Imm(0) => {}
        Arg::Imm(_) => {
            out.extend_from_slice(b", ");
            push_immediate(out, offset);
        }
        Arg::Part { .. } => {
            out.extend_from_slice(b", ");
            push_low(out, names, offset);
        }
        _ => {
            out.extend_from_slice(b", ");
            push_operand(out, b'x', 8, offset);
        }
    }
    out.push(b']');
    if matches!(i.op, insts::STR_PRE | insts::STP_PRE) {
        out.push(b'!');
    }
}

/// An immediate of an addition, or the low bits of an address.
fn push_low(out: &mut Vec<u8>, names: &Names<'_>, arg: Arg) {
    match arg {
        Arg::Imm(value) if value >= 1 << 12 => {
            push_immediate(out, Arg::Imm(value >> 12));
            push_modifier(out, kind::LSL, 12);
        }
        Arg::Imm(_) => push_immediate(out, arg),
        Arg::Part { of, offset, kind } => {
            push_part(out, names, of, offset, kind);
        }
        _ => unreachable!("an immediate or a part of an address"),
    }
}

/// A block, a symbol, or the page of an address.
fn push_target(out: &mut Vec<u8>, names: &Names<'_>, arg: Arg) {
    match arg {
        Arg::Block(b) => names.push_block(out, b),
        Arg::Symbol(symbol, _, offset) => {
            names.push_symbol(out, symbol);
            push_offset(out, offset);
        }
        Arg::Part { of, offset, kind } => push_part(out, names, of, offset, kind),
        // From the instruction itself.
        Arg::Imm(offset) => {
            out.push(b'.');
            push_offset(out, offset);
        }
        _ => unreachable!("a place in the program"),
    }
}

fn push_part(out: &mut Vec<u8>, names: &Names<'_>, of: Named, offset: i64, kind: u8) {
    let (before, after) = PARTS[usize::from(kind)];
    let apple = names.target.format == ObjectFormat::MachO;
    if !apple {
        out.extend_from_slice(before.as_bytes());
    }
    match of {
        Named::Symbol(symbol, _) => names.push_symbol(out, symbol),
        Named::Pool(bits, size) => names.push_literal(out, bits, size),
    }
    if apple {
        out.extend_from_slice(after.as_bytes());
    }
    push_offset(out, offset);
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
