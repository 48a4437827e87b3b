//! Every row, as text: what it looks like, and that assemblers take it.

use super::*;
use crate::index::Index;
use crate::ir::{BlockId, SymbolId};
use crate::target::amd64::codes::Code;
use crate::target::amd64::instances::{instances, instruction, memory, module};
use crate::target::amd64::regs::*;
use crate::target::{ObjectFormat, Target};

fn target() -> Target {
    Target {
        name: "test",
        format: ObjectFormat::Elf,
        symbol_prefix: "",
        local_prefix: ".L",
        registers: &SYSV,
        has_select: true,
        function_align: 16,
        select: |_, _, _, _| unreachable!("nothing is selected here"),
        emit: |_, _| {},
        unwind: &super::super::regs::UNWIND,
        keeps_frame_pointer: false,
        features: &[],
        preamble: |_, _| {},
        row_name: |_| "",
        print,
        object: None,
    }
}

fn line(instruction: &Instruction) -> String {
    let (module, target) = (module(), target());
    let names = Names { module: &module, target: &target, function: 3 };
    let mut out = Vec::new();
    print(instruction, &names, &mut out);
    String::from_utf8(out).unwrap()
}

fn text(code: Code, size: u8, cond: u8, args: &[Arg]) -> String {
    line(&instruction(code, size, cond, args))
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
    let mut source = String::from(".Lbb3_0:\n");
    for instance in instances() {
        source += "\t";
        source += &line(&instance);
        source.push('\n');
    }
    source += ".Lfp16_8000000000000000:\n.Lfp4_3f800000:\n";
    for command in [
        &["as", "--64", "-o", "/dev/null", "-"][..],
        &["clang", "--target=x86_64-linux-gnu", "-c", "-x", "assembler", "-o", "/dev/null", "-"],
    ] {
        match assemble(command, &source) {
            Some(Ok(())) => {}
            Some(Err(message)) => panic!("{}: {message}", command[0]),
            None => eprintln!("no {} here", command[0]),
        }
    }
}

#[test]
fn one_of_each_style() {
    let r = Arg::Reg;
    let at = |disp| memory(MemoryBase::Reg(RSP), None, 1, disp);
    let x = SymbolId::new(0);
    let cases = [
        (text(Code::Add, 4, 0, &[r(RAX), r(RCX)]), "addl %ecx, %eax"),
        (text(Code::Mov, 1, 0, &[at(8), r(RSI)]), "movb %sil, 8(%rsp)"),
        (text(Code::Movabs, 8, 0, &[r(R8), Arg::Imm(-1)]), "movabsq $-1, %r8"),
        (text(Code::Movzx, 2, 0, &[r(RAX), r(R9)]), "movzwl %r9w, %eax"),
        (text(Code::Movsx8, 4, 0, &[r(RAX), r(R9)]), "movslq %r9d, %rax"),
        (text(Code::Shl, 8, 0, &[r(RDX), r(RCX)]), "shlq %cl, %rdx"),
        (text(Code::Imul, 4, 0, &[r(RDX), at(0), Arg::Imm(3)]), "imull $3, (%rsp), %edx"),
        (text(Code::Jcc, 8, 10, &[Arg::Block(BlockId::new(7))]), "jp .Lbb3_7"),
        (text(Code::Set, 1, 15, &[r(RDI)]), "setg %dil"),
        (text(Code::Cmov, 8, 4, &[r(RDI), r(RSI)]), "cmove %rsi, %rdi"),
        (text(Code::CallInd, 8, 0, &[r(R11)]), "call *%r11"),
        (text(Code::Call, 8, 0, &[Arg::Symbol(x, Access::Extern, 0)]), "call x@PLT"),
        (text(Code::MovFs, 8, 0, &[r(RBX)]), "movq %fs:0, %rbx"),
        (text(Code::Cvtsi2sd, 8, 0, &[r(xmm(1)), r(RBX)]), "cvtsi2sdq %rbx, %xmm1"),
        (text(Code::Cvttss2si, 4, 0, &[r(RBX), r(xmm(1))]), "cvttss2si %xmm1, %ebx"),
        (text(Code::Movd, 8, 0, &[r(RBX), r(xmm(1))]), "movq %xmm1, %rbx"),
        (text(Code::Divs, 4, 0, &[r(xmm(9)), r(xmm(1))]), "divss %xmm1, %xmm9"),
        (text(Code::Ret, 8, 0, &[]), "ret"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn memory_operands() {
    let symbol = |access| MemoryBase::Symbol(SymbolId::new(0), access);
    let cases = [
        (memory(MemoryBase::Reg(RBP), Some(R8), 4, -8), "-8(%rbp,%r8,4)"),
        (memory(MemoryBase::Reg(RBP), Some(R8), 1, 0), "(%rbp,%r8)"),
        (memory(MemoryBase::None, None, 1, 0), "0"),
        (memory(MemoryBase::None, Some(RAX), 8, 16), "16(,%rax,8)"),
        (memory(symbol(Access::Direct), None, 1, 16), "x+16(%rip)"),
        (memory(symbol(Access::Extern), None, 1, 0), "x@GOTPCREL(%rip)"),
        (memory(symbol(Access::Thread), None, 1, 4), "%fs:x@tpoff+4"),
        (memory(symbol(Access::Thread), Some(RAX), 1, 0), "%fs:x@tpoff(%rax)"),
        (memory(symbol(Access::ExternThread), None, 1, 0), "x@gottpoff(%rip)"),
        (memory(MemoryBase::Pool(1, 8), None, 1, 0), ".Lfp8_0000000000000001(%rip)"),
    ];
    for (m, expected) in cases {
        let found = text(Code::Mov, 8, 0, &[Arg::Reg(RAX), m]);
        assert_eq!(found, format!("movq {expected}, %rax"));
    }
    let m = memory(symbol(Access::Thread), Some(RAX), 1, 4);
    let found = text(Code::Lea, 8, 0, &[Arg::Reg(RAX), m]);
    assert_eq!(found, "leaq x@tpoff+4(%rax), %rax");
}
