//! Prints final instructions in AT&T syntax, as GNU as and clang read it.

use super::codes::{self, Style};
use crate::ir::Access;
use crate::target::format::{push_offset, push_signed};
use crate::target::machine::{Bank, PReg};
use crate::target::{Arg, Instruction, Memory, MemoryBase, Names, ObjectFormat};

/// Names of the integer registers by size: 1, 2, 4, 8 bytes.
static INT: [[&str; 16]; 4] = [
    [
        "%al", "%cl", "%dl", "%bl", "%spl", "%bpl", "%sil", "%dil", "%r8b", "%r9b", "%r10b",
        "%r11b", "%r12b", "%r13b", "%r14b", "%r15b",
    ],
    [
        "%ax", "%cx", "%dx", "%bx", "%sp", "%bp", "%si", "%di", "%r8w", "%r9w", "%r10w", "%r11w",
        "%r12w", "%r13w", "%r14w", "%r15w",
    ],
    [
        "%eax", "%ecx", "%edx", "%ebx", "%esp", "%ebp", "%esi", "%edi", "%r8d", "%r9d", "%r10d",
        "%r11d", "%r12d", "%r13d", "%r14d", "%r15d",
    ],
    [
        "%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi", "%r8", "%r9", "%r10",
        "%r11", "%r12", "%r13", "%r14", "%r15",
    ],
];

static FLOAT: [&str; 16] = [
    "%xmm0", "%xmm1", "%xmm2", "%xmm3", "%xmm4", "%xmm5", "%xmm6", "%xmm7", "%xmm8", "%xmm9",
    "%xmm10", "%xmm11", "%xmm12", "%xmm13", "%xmm14", "%xmm15",
];

static CONDITIONS: [&str; 16] =
    ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"];

/// `Target::print`.
pub fn print(i: &Instruction, names: &Names<'_>, out: &mut Vec<u8>) {
    let row = codes::row(i.op);
    out.extend_from_slice(row.mnemonic);
    let suffix: &[u8] = match row.style {
        Style::Plain | Style::Plain4 | Style::Indirect | Style::ToInt => b"",
        Style::Sized | Style::Shift | Style::FromInt => &[integer_suffix(i.size)],
        Style::Extend4 => &[integer_suffix(i.size), b'l'],
        Style::Extend8 => &[integer_suffix(i.size), b'q'],
        Style::Float => &[if i.size == 8 { b'd' } else { b's' }],
        Style::Bits => &[if i.size == 8 { b'q' } else { b'd' }],
        Style::Condition | Style::ConditionByte => CONDITIONS[usize::from(i.cond)].as_bytes(),
    };
    out.extend_from_slice(suffix);
    let lea = row.code == codes::Code::Lea;
    for (n, arg) in i.args.iter().enumerate().rev() {
        // The row of a fixed first operand holds the separator itself.
        if n + 1 < i.args.len() {
            out.extend_from_slice(b", ");
        } else if out.last() != Some(&b' ') {
            out.push(b' ');
        }
        match *arg {
            Arg::Reg(r) => {
                if row.style == Style::Indirect {
                    out.push(b'*');
                }
                push_register(out, r, register_size(row.style, i.size, n));
            }
            Arg::Imm(value) => {
                out.push(b'$');
                push_signed(out, value);
            }
            Arg::Memory(ref m) => {
                if row.style == Style::Indirect {
                    out.push(b'*');
                }
                push_memory(out, names, m, lea);
            }
            Arg::Block(b) => names.push_block(out, b),
            Arg::Symbol(symbol, access, offset) => {
                names.push_symbol(out, symbol);
                if access == Access::Extern && names.target.format == ObjectFormat::Elf {
                    out.extend_from_slice(b"@PLT");
                }
                push_offset(out, offset);
            }
            Arg::Modified { .. } | Arg::Part { .. } => unreachable!("not on this machine"),
        }
    }
}

fn integer_suffix(size: u8) -> u8 {
    match size {
        1 => b'b',
        2 => b'w',
        4 => b'l',
        _ => b'q',
    }
}

/// The size of the integer register that is operand `n` (0 is the destination).
fn register_size(style: Style, size: u8, n: usize) -> u8 {
    match style {
        Style::Plain | Style::Indirect => 8,
        Style::Plain4 => 4,
        Style::Sized
        | Style::Float
        | Style::FromInt
        | Style::ToInt
        | Style::Bits
        | Style::Condition => size,
        Style::Shift if n == 0 => size,
        Style::Shift | Style::ConditionByte => 1,
        Style::Extend4 if n == 0 => 4,
        Style::Extend8 if n == 0 => 8,
        Style::Extend4 | Style::Extend8 => size,
    }
}

/// Appends the name of a register, of which an operand uses `size` bytes.
pub fn push_register(out: &mut Vec<u8>, r: PReg, size: u8) {
    let number = usize::from(r.number());
    let name = match r.bank() {
        Bank::Int => INT[size.trailing_zeros() as usize][number],
        Bank::Float => FLOAT[number],
    };
    out.extend_from_slice(name.as_bytes());
}

/// An address; `lea` computes it without its segment.
fn push_memory(out: &mut Vec<u8>, names: &Names<'_>, m: &Memory, lea: bool) {
    match m.base {
        MemoryBase::Reg(base) => {
            if m.disp != 0 {
                push_signed(out, m.disp);
            }
            out.push(b'(');
            push_register(out, base, 8);
            if let Some(index) = m.index {
                push_index(out, index, m.scale);
            }
            out.push(b')');
        }
        MemoryBase::None => {
            push_signed(out, m.disp);
            if let Some(index) = m.index {
                out.push(b'(');
                push_index(out, index, m.scale);
                out.push(b')');
            }
        }
        MemoryBase::Symbol(symbol, access) => {
            let format = names.target.format;
            let segment = access == Access::Thread && format == ObjectFormat::Elf;
            if segment && !lea {
                out.extend_from_slice(b"%fs:");
            }
            if access == Access::Extern && format == ObjectFormat::Coff {
                names.push_reference_cell(out, symbol);
            } else {
                names.push_symbol(out, symbol);
                out.extend_from_slice(relocation(format, access));
            }
            push_offset(out, m.disp);
            match m.index {
                None if segment => {}
                None => out.extend_from_slice(b"(%rip)"),
                Some(index) if m.scale == 1 => {
                    out.push(b'(');
                    push_register(out, index, 8);
                    out.push(b')');
                }
                Some(index) => {
                    out.push(b'(');
                    push_index(out, index, m.scale);
                    out.push(b')');
                }
            }
        }
        MemoryBase::Pool(bits, size) => {
            names.push_literal(out, bits, size);
            push_offset(out, m.disp);
            out.extend_from_slice(b"(%rip)");
        }
    }
}

/// What an address of a symbol needs of the linker.
fn relocation(format: ObjectFormat, access: Access) -> &'static [u8] {
    match (access, format) {
        (Access::Direct, _) => b"",
        (Access::Extern, _) => b"@GOTPCREL",
        (Access::Thread, ObjectFormat::Elf) => b"@tpoff",
        (Access::ExternThread, ObjectFormat::Elf) => b"@gottpoff",
        (Access::Thread | Access::ExternThread, ObjectFormat::MachO) => b"@TLVP",
        (Access::Thread | Access::ExternThread, ObjectFormat::Coff) => b"@SECREL32",
    }
}

fn push_index(out: &mut Vec<u8>, index: PReg, scale: u8) {
    out.push(b',');
    push_register(out, index, 8);
    if scale != 1 {
        out.push(b',');
        out.push(b'0' + scale);
    }
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
