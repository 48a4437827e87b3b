//! Every row, as text: what it looks like, and that assemblers take it.

use super::*;
use crate::index::Index;
use crate::ir::{Access, BlockId, Module, SymbolId};
use crate::target::Target;
use crate::target::arm64::insts::{ROWS, Row, cond, part};
use crate::target::arm64::regs::{self, SP, ZERO, v, x};
use crate::target::machine::{MOp, op};
use smallvec::SmallVec;

fn target(format: ObjectFormat) -> Target {
    let apple = format == ObjectFormat::MachO;
    Target {
        format,
        symbol_prefix: if apple { "_" } else { "" },
        local_prefix: if apple { "L" } else { ".L" },
        name: "test",
        registers: &regs::ELF,
        has_select: true,
        features: &[],
        function_align: 16,
        select: |_, _, _, _| unreachable!("nothing is selected here"),
        emit: |_, _| {},
        unwind: &regs::UNWIND,
        keeps_frame_pointer: false,
        preamble: |_, _| {},
        row_name: |_| "",
        print,
        object: None,
    }
}

fn text(format: ObjectFormat, op: MOp, size: u8, cond: u8, args: &[Arg]) -> String {
    let mut module = Module::default();
    module.symbols.intern(b"x");
    module.symbols.intern(b"\"a b\"");
    let target = target(format);
    let names = Names { module: &module, target: &target, function: 3 };
    let mut out = Vec::new();
    print(&Instruction { op, size, cond, args: SmallVec::from(args) }, &names, &mut out);
    String::from_utf8(out).unwrap()
}

fn part(symbol: usize, offset: i64, kind: u8) -> Arg {
    let of = Named::Symbol(SymbolId::new(symbol), Access::Direct);
    Arg::Part { of, offset, kind }
}

/// Sizes that a row comes in.
fn sizes(row: &Row) -> &'static [u8] {
    match row.name {
        "LDR" | "STR" | "LDP" | "STP" | "LDR_POST" | "STR_PRE" | "LDP_POST" | "STP_PRE" => {
            &[4, 8, 16]
        }
        _ if row.operands.contains(['r', 'p', 'f']) => &[4, 8],
        _ => &[8],
    }
}

/// Operands for a letter, the odd ones included.
fn operands(row: &Row, letter: u8, size: u8, format: ObjectFormat) -> Vec<Vec<Arg>> {
    let one = |list: &[Arg]| list.iter().map(|&a| vec![a]).collect::<Vec<_>>();
    let apple = format == ObjectFormat::MachO;
    match letter {
        b'r' | b'w' | b'x' => one(&[x(0), x(17), x(30), ZERO].map(Arg::Reg)),
        b'p' | b'P' => one(&[x(1), SP].map(Arg::Reg)),
        b'f' | b's' | b'd' => one(&[v(0), v(9), v(31)].map(Arg::Reg)),
        b't' if size == 16 => one(&[v(2), v(31)].map(Arg::Reg)),
        b't' => one(&[x(2), ZERO, v(0)].map(Arg::Reg)),
        b'o' if row.operands.starts_with('P') => {
            vec![vec![Arg::Modified { reg: x(3), kind: kind::UXTX, amount: 0 }]]
        }
        b'o' => {
            let mut all = vec![vec![Arg::Reg(x(3))], vec![Arg::Reg(ZERO)]];
            let bits = ["AND", "ORR", "EOR", "BIC", "ORN", "EON", "ANDS", "BICS", "TST", "MVN"];
            let bits = bits.contains(&row.name);
            let kinds = if bits {
                kind::LSL..=kind::ROR
            } else if row.name == "NEG" {
                kind::LSL..=kind::ASR
            } else {
                kind::LSL..=kind::SXTX
            };
            let exists = |k| match k {
                kind::ROR => bits,
                kind::UXTX | kind::SXTX => size == 8,
                _ => true,
            };
            for kind in kinds.filter(|&k| exists(k)) {
                let amounts = if kind < kind::UXTB { [1, 31] } else { [0, 4] };
                all.extend(amounts.map(|amount| vec![Arg::Modified { reg: x(3), kind, amount }]));
            }
            all
        }
        b'i' if row.name == "MOVI" => one(&[Arg::Imm(0)]),
        b'i' => one(&[Arg::Imm(1), Arg::Imm(15)]),
        b'u' => {
            let mut all = vec![Arg::Imm(0), Arg::Imm(4095), Arg::Imm(4096), Arg::Imm(0xfff000)];
            if row.name == "ADD_I" && size == 8 {
                all.extend([part(0, 0, part::LOW), part(1, 8, part::LOW)]);
                if !apple {
                    all.extend([part::TPREL_HIGH, part::TPREL_LOW].map(|k| part(0, 4, k)));
                }
            }
            one(&all)
        }
        b'l' => one(&[Arg::Imm(0xff), Arg::Imm(0x5555_5555_5555_5555)]),
        b'k' => vec![vec![Arg::Imm(0xffff), Arg::Imm(0)], vec![Arg::Imm(1), Arg::Imm(16)]],
        b'n' => (0..=255).map(|n| vec![Arg::Imm(n)]).collect(),
        b'j' => vec![vec![Arg::Imm(3), Arg::Imm(5)]],
        b'm' => addresses(row, size, apple),
        b'a' => {
            let mut kinds = vec![part::PAGE, part::GOT_PAGE];
            kinds.push(if apple { part::TLVP_PAGE } else { part::GOTTPREL_PAGE });
            let literal = Arg::Part { of: Named::Pool(1, 8), offset: 0, kind: part::PAGE };
            let mut all: Vec<Arg> = kinds.into_iter().map(|k| part(0, 0, k)).collect();
            all.extend([part(1, 16, part::PAGE), literal]);
            one(&all)
        }
        b'b' if row.name == "BL" => {
            let callee = |n| Arg::Symbol(SymbolId::new(n), Access::Extern, 0);
            one(&[callee(0), callee(1)])
        }
        b'b' => one(&[Arg::Block(BlockId::new(0)), Arg::Imm(8)]),
        b'?' | b'c' | b'=' | b'y' | b'z' => vec![Vec::new()],
        _ => unreachable!("no such letter"),
    }
}

/// Bases and offsets that a load or store takes.
fn addresses(row: &Row, size: u8, apple: bool) -> Vec<Vec<Arg>> {
    let step = match row.name {
        "LDRB" | "LDRSB" | "STRB" => 1,
        "LDRH" | "LDRSH" | "STRH" => 2,
        "LDRSW" => 4,
        _ => i64::from(size),
    };
    // Not among the registers that the test loads: the base of an update must differ.
    let base = Arg::Reg(x(7));
    let immediate = |n| vec![base, Arg::Imm(n)];
    let mut all = match row.name {
        "LDR_POST" | "STR_PRE" => return vec![immediate(-256), immediate(255)],
        "LDP_POST" | "STP_PRE" => return vec![immediate(-64 * step), immediate(63 * step)],
        "LDP" | "STP" => {
            let on_stack = vec![Arg::Reg(SP), Arg::Imm(0)];
            return vec![immediate(-64 * step), immediate(63 * step), on_stack];
        }
        _ => vec![immediate(0), immediate(-256), immediate(255), immediate(4095 * step)],
    };
    all.push(vec![Arg::Reg(SP), Arg::Imm(step)]);
    all.push(vec![base, Arg::Reg(x(3))]);
    for kind in [kind::LSL, kind::UXTW, kind::SXTW] {
        for amount in [0, step.trailing_zeros() as u8] {
            all.push(vec![base, Arg::Modified { reg: x(3), kind, amount }]);
        }
    }
    all.push(vec![base, part(0, 0, part::LOW)]);
    if size == 8 && row.name == "LDR" {
        let low = if apple { part::TLVP_LOW } else { part::GOTTPREL_LOW };
        all.extend([part::GOT_LOW, low].map(|k| vec![base, part(0, 0, k)]));
    }
    all
}

/// Every row with the operands that it takes.
fn instances(format: ObjectFormat) -> Vec<String> {
    let mut all = Vec::new();
    for (n, row) in ROWS.iter().enumerate().filter(|(_, row)| !row.mnemonic.is_empty()) {
        for &size in sizes(row) {
            let lists: Vec<_> =
                row.operands.bytes().map(|l| operands(row, l, size, format)).collect();
            // Each operand of each place once, with the first ones of the others.
            for (place, list) in lists.iter().enumerate() {
                for choice in list {
                    let args: Vec<Arg> = (0..lists.len())
                        .flat_map(|p| if p == place { choice.clone() } else { lists[p][0].clone() })
                        .collect();
                    // Two loads go to two registers, of one file.
                    let pair = matches!(row.name, "LDP" | "STP" | "LDP_POST" | "STP_PRE");
                    let mut args = args;
                    if pair {
                        let Arg::Reg(a) = args[place.min(1)] else { unreachable!("a register") };
                        args[0] = Arg::Reg(a);
                        args[1] = Arg::Reg(match a.bank() {
                            Bank::Int => x(5),
                            Bank::Float => v(5),
                        });
                    }
                    for cond in [cond::EQ, cond::LE] {
                        let number = op::FIRST_TARGET + n as MOp;
                        all.push(text(format, number, size, cond, &args));
                    }
                }
            }
        }
    }
    all
}

/// Runs an assembler over `source`; `None` if there is none.
fn assemble(command: &[&str], source: &str) -> Option<Result<(), String>> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(if output.status.success() { Ok(()) } else { Err(message) })
}

fn accept(format: ObjectFormat, commands: &[&[&str]]) {
    let prefix = target(format).local_prefix;
    let mut source = format!("{prefix}bb3_0:\n");
    for line in instances(format) {
        source += &format!("\t{line}\n");
    }
    source += match format {
        ObjectFormat::MachO => ".section __TEXT,__literal8,8byte_literals\n",
        _ => ".section .rodata\n",
    };
    source += &format!(".balign 8\n{prefix}fp8_0000000000000001:\n");
    for command in commands {
        match assemble(command, &source) {
            Some(Ok(())) => {}
            Some(Err(message)) => panic!("{}: {message}", command[0]),
            None => eprintln!("no {} here", command[0]),
        }
    }
}

#[test]
fn assemblers_accept_every_row() {
    let clang = |target| ["clang", target, "-c", "-x", "assembler", "-o", "/dev/null", "-"];
    accept(
        ObjectFormat::Elf,
        &[&["aarch64-linux-gnu-as", "-o", "/dev/null", "-"], &clang("--target=aarch64-linux-gnu")],
    );
    accept(ObjectFormat::MachO, &[&clang("--target=arm64-apple-macos")]);
}

#[test]
fn one_of_each_kind() {
    let r = Arg::Reg;
    let modified = |kind, amount| Arg::Modified { reg: x(2), kind, amount };
    let block = Arg::Block(BlockId::new(7));
    let elf = |op, size, cond, args: &[Arg]| text(ObjectFormat::Elf, op, size, cond, args);
    use insts::*;
    let cases = [
        (elf(MOVZ, 4, 0, &[r(x(0)), Arg::Imm(5), Arg::Imm(16)]), "movz w0, #5, lsl #16"),
        (elf(MOV_SP, 8, 0, &[r(x(29)), r(SP)]), "mov x29, sp"),
        (elf(ADD_I, 8, 0, &[r(SP), r(SP), Arg::Imm(8192)]), "add sp, sp, #2, lsl #12"),
        (elf(ADD, 8, 0, &[r(x(0)), r(x(1)), modified(kind::SXTW, 2)]), "add x0, x1, w2, sxtw #2"),
        (elf(SUB, 4, 0, &[r(x(0)), r(ZERO), modified(kind::LSR, 3)]), "sub w0, wzr, w2, lsr #3"),
        (elf(AND_I, 4, 0, &[r(x(0)), r(x(1)), Arg::Imm(15)]), "and w0, w1, #0x0000000f"),
        (elf(SBFX, 8, 0, &[r(x(0)), r(x(1)), Arg::Imm(3), Arg::Imm(9)]), "sbfx x0, x1, #3, #9"),
        (elf(CSEL, 4, cond::HI, &[r(x(0)), r(x(1)), r(ZERO)]), "csel w0, w1, wzr, hi"),
        (elf(B_IF, 8, cond::LT, &[block]), "b.lt .Lbb3_7"),
        (elf(TBNZ, 8, 0, &[r(x(9)), Arg::Imm(63), block]), "tbnz x9, #63, .Lbb3_7"),
        (elf(FMOV_I, 4, 0, &[r(v(1)), Arg::Imm(0x70)]), "fmov s1, #1.0"),
        (elf(SCVTF_D, 4, 0, &[r(v(1)), r(x(3))]), "scvtf d1, w3"),
        (elf(FCMP, 8, 0, &[r(v(1)), r(v(2))]), "fcmp d1, d2"),
        (elf(RET, 8, 0, &[]), "ret"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn memory_operands() {
    let low = |kind| part(0, 8, kind);
    let index = |kind, amount| Arg::Modified { reg: x(2), kind, amount };
    let cases = [
        (Arg::Imm(0), "[sp]", "[sp]"),
        (Arg::Imm(-16), "[sp, #-16]", "[sp, #-16]"),
        (Arg::Reg(x(2)), "[sp, x2]", "[sp, x2]"),
        (index(kind::LSL, 3), "[sp, x2, lsl #3]", "[sp, x2, lsl #3]"),
        (index(kind::SXTW, 0), "[sp, w2, sxtw]", "[sp, w2, sxtw]"),
        (low(part::LOW), "[sp, :lo12:x+8]", "[sp, _x@PAGEOFF+8]"),
        (low(part::GOT_LOW), "[sp, :got_lo12:x+8]", "[sp, _x@GOTPAGEOFF+8]"),
    ];
    for (offset, elf, apple) in cases {
        let args = [Arg::Reg(v(4)), Arg::Reg(SP), offset];
        let found = |format| text(format, insts::LDR, 8, 0, &args);
        assert_eq!(found(ObjectFormat::Elf), format!("ldr d4, {elf}"));
        assert_eq!(found(ObjectFormat::MachO), format!("ldr d4, {apple}"));
    }
    let args = [Arg::Reg(x(29)), Arg::Reg(x(30)), Arg::Reg(SP), Arg::Imm(16)];
    let pair = |op| text(ObjectFormat::Elf, op, 8, 0, &args);
    assert_eq!(pair(insts::STP_PRE), "stp x29, x30, [sp, #16]!");
    assert_eq!(pair(insts::LDP_POST), "ldp x29, x30, [sp], #16");
    assert_eq!(pair(insts::LDP), "ldp x29, x30, [sp, #16]");
}
