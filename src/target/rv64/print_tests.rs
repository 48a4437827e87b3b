//! Every row, as text: what it looks like, and that assemblers take it.

use super::super::instances::{instances, instruction, module, part as part_of, symbol};
use super::*;
use crate::index::Index;
use crate::ir::{BlockId, SymbolId};
use crate::target::machine::PReg;
use crate::target::rv64::RV64;

fn line(instruction: &Instruction) -> String {
    let module = module();
    let names = Names { module: &module, target: &RV64, function: 3 };
    let mut out = Vec::new();
    print(instruction, &names, &mut out);
    String::from_utf8(out).unwrap()
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

#[test]
fn assemblers_accept_every_row() {
    let mut source = String::from("1:\n2:\n.Lbb3_7:\n");
    for instance in instances() {
        source += "\t";
        source += &line(&instance);
        source.push('\n');
    }
    source += "3:\n.Lfp4_3f800000:\n";
    const MARCH: &str = "-march=rv64gc_zba_zbb_zbs";
    for command in [
        &["riscv64-linux-gnu-as", MARCH, "-o", "/dev/null", "-"][..],
        &[
            "clang",
            "--target=riscv64-linux-gnu",
            MARCH,
            "-c",
            "-x",
            "assembler",
            "-o",
            "/dev/null",
            "-",
        ],
    ] {
        match assemble(command, &source) {
            Some(Ok(())) => {}
            Some(Err(message)) => panic!("{}: {message}", command[0]),
            None => eprintln!("no {} here", command[0]),
        }
    }
}

#[test]
fn one_of_each_shape() {
    let r = |n: u8| Arg::Reg(PReg::int(n));
    let f = |n: u8| Arg::Reg(PReg::float(n));
    let block = Arg::Block(BlockId::new(7));
    let call = |access| Arg::Symbol(SymbolId::new(0), access, 0);
    let pool = Named::Pool(0x3f80_0000, 4);
    let rows: &[(u16, u8, &[Arg], &str)] = &[
        (insts::RET, 0, &[], "ret"),
        (insts::ADDW, 0, &[r(10), r(8), r(31)], "addw a0, s0, t6"),
        (insts::ADDI, 0, &[r(2), r(2), Arg::Imm(-16)], "addi sp, sp, -16"),
        (insts::LUI, 0, &[r(15), Arg::Imm(0x12345)], "lui a5, 74565"),
        (insts::LI12, 0, &[r(15), Arg::Imm(-1)], "li a5, -1"),
        (insts::FMV_D, 0, &[f(10), f(8)], "fmv.d fa0, fs0"),
        (insts::FCVT_LU_S, 0, &[r(10), f(0)], "fcvt.lu.s a0, ft0, rtz"),
        (insts::LD, 0, &[r(1), Arg::Imm(8), r(2)], "ld ra, 8(sp)"),
        (insts::SB, 0, &[r(0), Arg::Imm(-3), r(11)], "sb zero, -3(a1)"),
        (insts::BGEU, 0, &[r(10), r(11), block], "bgeu a0, a1, .Lbb3_7"),
        (insts::BLEZ, 0, &[r(10), block], "blez a0, .Lbb3_7"),
        (insts::BNE, mark::BACK, &[r(10), r(11)], "bne a0, a1, 2b"),
        (insts::BEQZ, mark::AHEAD, &[r(10)], "beqz a0, 3f"),
        (insts::JUMP_FAR, 0, &[block, r(31)], "jump .Lbb3_7, t6"),
        (insts::CALL, 0, &[call(Access::Direct)], "call sym"),
        (insts::CALL, 0, &[call(Access::Extern)], "call sym@plt"),
        (insts::CALL_REG, 0, &[r(15)], "jalr a5"),
        (
            insts::AUIPC,
            0,
            &[r(31), part_of(pool, 0, part::PCREL_HI)],
            "1: auipc t6, %pcrel_hi(.Lfp4_3f800000)",
        ),
        (
            insts::FLW,
            0,
            &[f(15), part_of(pool, 0, part::PCREL_LO), r(31)],
            "flw fa5, %pcrel_lo(1b)(t6)",
        ),
        (
            insts::ADD_TPREL,
            0,
            &[r(10), r(10), r(4), part_of(symbol(1), 8, part::TPREL_ADD)],
            "add a0, a0, tp, %tprel_add(t1+8)",
        ),
    ];
    for &(row, cond, args, text) in rows {
        assert_eq!(line(&instruction(row, cond, args)), text);
    }
}
