//! Prints final instructions as GNU as and clang read them.

use super::insts::{self, Shape, mark, part};
use super::regs;
use crate::ir::Access;
use crate::target::format::{push_offset, push_signed};
use crate::target::{Arg, Features, Instruction, Named, Names};

/// `Target::preamble`: the instruction set, in the words that GNU as and clang both take for leave to
/// use it. (Of `.option arch` older clangs know nothing.)
pub fn preamble(features: &Features, out: &mut Vec<u8>) {
    let extensions: Vec<&str> =
        [(features.zba, "_zba1p0"), (features.zbb, "_zbb1p0"), (features.zbs, "_zbs1p0")]
            .into_iter()
            .filter_map(|(on, name)| on.then_some(name))
            .collect();
    if !extensions.is_empty() {
        out.extend_from_slice(b".attribute arch, \"rv64imafdc");
        extensions.iter().for_each(|name| out.extend_from_slice(name.as_bytes()));
        out.extend_from_slice(b"\"\n");
    }
}

/// `Target::print`.
pub fn print(i: &Instruction, names: &Names<'_>, out: &mut Vec<u8>) {
    let row = insts::row(i.op);
    if i.op == insts::AUIPC {
        // What the lower part names: `%pcrel_lo(1b)` is the last such label before it.
        out.extend_from_slice(b"1: ");
    }
    out.extend_from_slice(row.mnemonic.as_bytes());
    let memory = matches!(row.shape, Shape::Load | Shape::Store);
    for (n, arg) in i.args.iter().enumerate() {
        match n {
            0 => out.push(b' '),
            2 if memory => out.push(b'('),
            _ => out.extend_from_slice(b", "),
        }
        push_arg(out, names, arg);
    }
    match row.shape {
        Shape::Load | Shape::Store => out.push(b')'),
        Shape::Truncate => out.extend_from_slice(b", rtz"),
        Shape::Branch | Shape::BranchZero => match i.cond {
            mark::BACK => out.extend_from_slice(b", 2b"),
            mark::AHEAD => out.extend_from_slice(b", 3f"),
            _ => {}
        },
        _ => {}
    }
}

fn push_arg(out: &mut Vec<u8>, names: &Names<'_>, arg: &Arg) {
    match *arg {
        Arg::Reg(r) => out.extend_from_slice(regs::name(r).as_bytes()),
        Arg::Imm(value) => push_signed(out, value),
        Arg::Block(b) => names.push_block(out, b),
        Arg::Symbol(symbol, access, offset) => {
            names.push_symbol(out, symbol);
            push_offset(out, offset);
            if access == Access::Extern {
                out.extend_from_slice(b"@plt");
            }
        }
        Arg::Part { of, offset, kind } => push_part(out, names, of, offset, kind),
        Arg::Memory(_) | Arg::Modified { .. } => unreachable!("not on this machine"),
    }
}

fn push_part(out: &mut Vec<u8>, names: &Names<'_>, of: Named, offset: i64, kind: u8) {
    let (before, after): (&[u8], &[u8]) = match kind {
        part::PCREL_HI => (b"%pcrel_hi(", b")"),
        part::PCREL_LO => return out.extend_from_slice(b"%pcrel_lo(1b)"),
        part::GOT_HI => (b"%got_pcrel_hi(", b")"),
        part::TLS_IE_HI => (b"%tls_ie_pcrel_hi(", b")"),
        part::TPREL_HI => (b"%tprel_hi(", b")"),
        part::TPREL_ADD => (b"%tprel_add(", b")"),
        part::TPREL_LO => (b"%tprel_lo(", b")"),
        _ => unreachable!("no such relocation"),
    };
    out.extend_from_slice(before);
    match of {
        Named::Symbol(symbol, _) => names.push_symbol(out, symbol),
        Named::Pool(bits, size) => names.push_literal(out, bits, size),
    }
    push_offset(out, offset);
    out.extend_from_slice(after);
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
