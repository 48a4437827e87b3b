//! Every row, as text: what it looks like, and that assemblers take it.

use super::*;
use crate::index::Index;
use crate::ir::BlockId;
use crate::ir::{Module, SymbolId};
use crate::target::amd64::codes::{CODES, Code};
use crate::target::amd64::regs::*;
use crate::target::{ObjectFormat, Target};
use smallvec::SmallVec;

fn module() -> Module {
    let mut module = Module::default();
    module.symbols.intern(b"x");
    module.symbols.intern(b"\"a b\"");
    module
}

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
        row_name: |_| "",
        print,
    }
}

fn text(code: Code, size: u8, cond: u8, args: &[Arg]) -> String {
    let (module, target) = (module(), target());
    let names = Names { module: &module, target: &target, function: 3 };
    let mut out = Vec::new();
    let args = SmallVec::from(args);
    print(&Instruction { op: code.number(), size, cond, args }, &names, &mut out);
    String::from_utf8(out).unwrap()
}

fn memory(base: MemoryBase, index: Option<PReg>, scale: u8, disp: i64) -> Arg {
    Arg::Memory(Memory { base, index, scale, disp })
}

fn bases() -> Vec<Arg> {
    let symbol = |n, access| MemoryBase::Symbol(SymbolId::new(n), access);
    let mut all = vec![
        memory(MemoryBase::None, None, 1, 4096),
        memory(MemoryBase::None, Some(RBP), 8, -1),
        memory(MemoryBase::Pool(1 << 63, 16), None, 1, 0),
        memory(MemoryBase::Pool(0x3f80_0000, 4), None, 1, 0),
    ];
    for base in [RAX, RSP, RBP, R12, R13] {
        for disp in [0, 127, 128, -128, -129, i64::from(i32::MAX), i64::from(i32::MIN)] {
            all.push(memory(MemoryBase::Reg(base), None, 1, disp));
            all.push(memory(MemoryBase::Reg(base), Some(R12), 1, disp));
            all.push(memory(MemoryBase::Reg(base), Some(RBP), 8, disp));
        }
    }
    for n in [0, 1] {
        all.push(memory(symbol(n, Access::Direct), None, 1, 0));
        all.push(memory(symbol(n, Access::Direct), None, 1, -8));
        all.push(memory(symbol(n, Access::Extern), None, 1, 0));
        all.push(memory(symbol(n, Access::Thread), None, 1, 8));
        all.push(memory(symbol(n, Access::Thread), Some(RCX), 1, 8));
        all.push(memory(symbol(n, Access::Thread), Some(RCX), 4, 0));
    }
    all
}

/// Every row with the operands that it takes, the odd ones included.
fn instances() -> Vec<String> {
    let mut all = Vec::new();
    let ints = [RAX, RSI, R8, R15].map(Arg::Reg);
    let floats = [xmm(0), xmm(7), xmm(8), xmm(15)].map(Arg::Reg);
    let sizes = |list: &'static [u8]| list.iter().copied();
    for row in CODES {
        use Code::*;
        let code = row.code;
        let mut put = |size, cond, args: &[Arg]| all.push(text(code, size, cond, args));
        match code {
            Mov | Add | Or | And | Sub | Xor | Cmp | Test => {
                for size in sizes(&[1, 2, 4, 8]) {
                    for a in ints {
                        ints.iter().for_each(|&b| put(size, 0, &[a, b]));
                        for m in bases() {
                            put(size, 0, &[m, a]);
                            if code != Test {
                                put(size, 0, &[a, m]);
                            }
                        }
                        for n in [0, 1, -1, 127, -128] {
                            put(size, 0, &[a, Arg::Imm(n)]);
                            put(size, 0, &[bases()[5], Arg::Imm(n)]);
                        }
                    }
                    for n in [128, -129, 0x7fff_ffff, -0x8000_0000] {
                        if size >= 4 {
                            put(size, 0, &[ints[1], Arg::Imm(n)]);
                            put(size, 0, &[bases()[5], Arg::Imm(n)]);
                        }
                    }
                }
            }
            Movabs => put(8, 0, &[ints[2], Arg::Imm(i64::MIN)]),
            Movzx | Movsx4 | Movsx8 => {
                for size in sizes(&[1, 2, 4]) {
                    if size < 4 || code == Movsx8 {
                        ints.iter().for_each(|&a| put(size, 0, &[ints[0], a]));
                        bases().iter().for_each(|&m| put(size, 0, &[ints[1], m]));
                    }
                }
            }
            Lea => {
                for m in bases().into_iter().skip(1) {
                    put(8, 0, &[ints[0], m]);
                    if matches!(m, Arg::Memory(m) if matches!(m.base, MemoryBase::Reg(_))) {
                        put(4, 0, &[ints[3], m]);
                    }
                }
            }
            Xchg => put(8, 0, &[ints[0], ints[3]]),
            Push | Pop => ints.iter().for_each(|&a| put(8, 0, &[a])),
            MovFs => {
                put(8, 0, &[ints[3]]);
                // The assembler allows such a cell with these two only.
                for n in [0, 1] {
                    let base = MemoryBase::Symbol(SymbolId::new(n), Access::ExternThread);
                    let m = memory(base, None, 1, 0);
                    all.push(text(Mov, 8, 0, &[ints[3], m]));
                    all.push(text(Add, 8, 0, &[ints[3], m]));
                }
            }
            Inc | Dec | Neg | Not | Mul | Imul1 | Div | Idiv => {
                for size in sizes(&[4, 8]) {
                    ints.iter().for_each(|&a| put(size, 0, &[a]));
                    put(size, 0, &[bases()[5]]);
                }
            }
            Bswap => {
                put(4, 0, &[ints[0]]);
                put(8, 0, &[ints[3]]);
            }
            Movbe => {
                for size in sizes(&[2, 4, 8]) {
                    for m in bases() {
                        put(size, 0, &[ints[0], m]);
                        put(size, 0, &[m, ints[3]]);
                    }
                }
            }
            Popcnt => {
                for size in sizes(&[4, 8]) {
                    put(size, 0, &[ints[0], ints[3]]);
                    put(size, 0, &[ints[2], bases()[6]]);
                }
            }
            Shlx | Shrx | Sarx => {
                for size in sizes(&[4, 8]) {
                    put(size, 0, &[ints[0], ints[3], ints[1]]);
                    put(size, 0, &[ints[2], bases()[6], ints[0]]);
                }
            }
            Rorx => {
                for size in sizes(&[4, 8]) {
                    put(size, 0, &[ints[0], ints[3], Arg::Imm(31)]);
                    put(size, 0, &[ints[2], bases()[6], Arg::Imm(1)]);
                }
            }
            Imul => {
                for size in sizes(&[4, 8]) {
                    put(size, 0, &[ints[0], ints[3]]);
                    put(size, 0, &[ints[0], bases()[6]]);
                    put(size, 0, &[ints[0], ints[3], Arg::Imm(1000)]);
                    put(size, 0, &[ints[0], bases()[6], Arg::Imm(-3)]);
                }
            }
            Shl | Shr | Sar | Rol | Ror => {
                for size in sizes(&[1, 2, 4, 8]) {
                    for a in [ints[0], ints[3], bases()[5]] {
                        put(size, 0, &[a, Arg::Reg(RCX)]);
                        put(size, 0, &[a, Arg::Imm(1)]);
                        put(size, 0, &[a, Arg::Imm(31)]);
                    }
                }
            }
            Cwtl | Cltq | Cltd | Cqto | Ret | Leave | Ud2 | Endbr64 | RepMovsb | RepMovsq => {
                put(8, 0, &[]);
            }
            Jcc => (0..16).for_each(|c| put(8, c, &[Arg::Block(BlockId::new(0))])),
            Set => (0..16).for_each(|c| put(1, c, &[ints[1]])),
            Cmov => {
                for c in 0..16 {
                    put(4, c, &[ints[0], ints[3]]);
                    put(8, c, &[ints[0], bases()[7]]);
                }
            }
            Jmp => put(8, 0, &[Arg::Block(BlockId::new(0))]),
            Call => {
                for n in [0, 1] {
                    put(8, 0, &[Arg::Symbol(SymbolId::new(n), Access::Direct, 0)]);
                    put(8, 0, &[Arg::Symbol(SymbolId::new(n), Access::Direct, 4)]);
                    put(8, 0, &[Arg::Symbol(SymbolId::new(n), Access::Extern, 0)]);
                }
            }
            CallInd => {
                ints.iter().for_each(|&a| put(8, 0, &[a]));
                bases().iter().for_each(|&m| put(8, 0, &[m]));
            }
            Movaps | Cvtss2sd | Cvtsd2ss | Andps | Xorps => {
                floats.iter().for_each(|&a| put(8, 0, &[a, floats[2]]));
                if code != Movaps {
                    bases().iter().for_each(|&m| put(8, 0, &[floats[2], m]));
                }
            }
            Movups => {
                put(8, 0, &[floats[3], bases()[5]]);
                put(8, 0, &[bases()[5], floats[3]]);
            }
            Movs | Adds | Subs | Muls | Divs | Ucomis => {
                for size in sizes(&[4, 8]) {
                    for m in bases() {
                        put(size, 0, &[floats[3], m]);
                        if code == Movs {
                            put(size, 0, &[m, floats[2]]);
                        }
                    }
                    if code != Movs {
                        put(size, 0, &[floats[3], floats[0]]);
                    }
                }
            }
            Cvtsi2ss | Cvtsi2sd => {
                for size in sizes(&[4, 8]) {
                    put(size, 0, &[floats[3], ints[3]]);
                    put(size, 0, &[floats[3], bases()[5]]);
                }
            }
            Cvttss2si | Cvttsd2si => {
                for size in sizes(&[4, 8]) {
                    put(size, 0, &[ints[3], floats[3]]);
                    put(size, 0, &[ints[3], bases()[5]]);
                }
            }
            Movd => {
                for size in sizes(&[4, 8]) {
                    put(size, 0, &[ints[3], floats[3]]);
                    put(size, 0, &[floats[3], ints[3]]);
                    put(size, 0, &[floats[3], bases()[5]]);
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

#[test]
fn assemblers_accept_every_row() {
    let mut source = String::from(".Lbb3_0:\n");
    for line in instances() {
        source += "\t";
        source += &line;
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
