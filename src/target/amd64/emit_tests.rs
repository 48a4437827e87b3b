//! Small allocated functions, and the text that emission makes of them.

use super::super::codes::{self, Code};
use super::super::insts::*;
use super::super::{print, regs::*};
use super::*;
use crate::index::{Index, IndexVec};
use crate::ir::{Access, Function, Module, Slot, SlotId, SymbolId};
use crate::target::machine::{
    Address, AddressId, Allocation, Constraint, MBlock, MFunction, MOp, Operand, PRegSet, Role,
    Step, VReg, VRegInfo,
};
use crate::target::unwind::FrameAction;
use crate::target::{Features, Instruction, Layout, Names, ObjectFormat, Target};
use pretty_assertions::assert_eq;

/// A function under construction; operands are given by their locations.
struct Builder {
    code: MFunction,
    allocation: Allocation,
}

fn r(reg: PReg) -> Location {
    Location::Reg(reg)
}

impl Builder {
    fn new() -> Builder {
        let code = MFunction {
            symbol: SymbolId::new(0),
            blocks: IndexVec::new(),
            vregs: IndexVec::new(),
            operands: Vec::new(),
            addresses: IndexVec::new(),
            clobbers: vec![PRegSet::EMPTY],
            slots: IndexVec::new(),
            outgoing: 0,
            calls: false,
            dynamic: false,
            frame_pointer: false,
            reserved: PRegSet::EMPTY,
            returns_twice: false,
            extra: 0,
        };
        Builder { code, allocation: Allocation::default() }
    }

    fn block(&mut self, succs: &[usize]) -> &mut Builder {
        let succs = succs.iter().map(|&b| BlockId::new(b)).collect();
        self.code.blocks.push(MBlock { succs, ..MBlock::default() });
        self.allocation.steps.push(Vec::new());
        self
    }

    fn last(&self) -> BlockId {
        BlockId::new(self.code.blocks.len() - 1)
    }

    fn inst(&mut self, inst: MInst, locations: &[Location]) -> &mut Builder {
        let b = self.last();
        let first = self.code.operands.len() as u32;
        for &location in locations {
            let bank = bank(location).unwrap_or(Bank::Int);
            let info = VRegInfo { bank, size: inst.size.max(4), rematerialise: false };
            let reg: VReg = self.code.vregs.push(info);
            self.code.operands.push(Operand { reg, role: Role::Use, constraint: Constraint::Any });
            self.allocation.locations.push(Some(location));
        }
        let n = self.code.blocks[b].insts.len() as u32;
        self.code.blocks[b].insts.push(MInst { first, count: locations.len() as u16, ..inst });
        self.step(Step::Inst(n))
    }

    fn step(&mut self, step: Step) -> &mut Builder {
        let b = self.last();
        self.allocation.steps[b].push(step);
        self
    }

    fn op(&mut self, op: MOp, size: u8, imm: i64, locations: &[Location]) -> &mut Builder {
        self.inst(MInst { imm, ..MInst::new(op, size) }, locations)
    }

    fn at(&mut self, op: MOp, size: u8, address: Address, locs: &[Location]) -> &mut Builder {
        let address = Some(self.code.addresses.push(address));
        self.inst(MInst { address, ..MInst::new(op, size) }, locs)
    }

    fn jcc(&mut self, cond: u8) -> &mut Builder {
        self.inst(MInst { cond, ..MInst::new(JCC, 8) }, &[])
    }

    fn slot(&mut self, size: u64, align: u32) -> SlotId {
        self.code.slots.push(Slot { size, align, name: None })
    }

    /// The text, without what every function starts with.
    fn text(&self) -> String {
        let order: Vec<BlockId> = self.code.blocks.indices().collect();
        self.text_in(&order)
    }

    fn text_in(&self, order: &[BlockId]) -> String {
        let mut module = Module::default();
        let symbol = module.symbols.intern(b"f");
        let layout =
            Layout { order: order.to_vec(), forward: self.code.blocks.indices().collect() };
        let input = EmitInput {
            module: &module,
            function: &Function::new(symbol),
            code: &self.code,
            allocation: &self.allocation,
            layout: &layout,
            features: &Features::default(),
            unwind: false,
            debug: false,
            indirect: true,
        };
        let target = Target {
            name: "test",
            format: ObjectFormat::Elf,
            symbol_prefix: "",
            local_prefix: ".L",
            registers: &SYSV,
            has_select: true,
            function_align: 16,
            select: |_, _, _, _| unreachable!("nothing is selected here"),
            emit: |_, _| unreachable!("emitted by hand"),
            unwind: &super::super::regs::UNWIND,
            keeps_frame_pointer: false,
            features: &[],
            preamble: |_, _| {},
            row_name: |_| "",
            print: print::print,
            object: None,
        };
        let mut lines = Lines { target: &target, module: &module, out: Vec::new() };
        emit(&input, ObjectFormat::Elf, &mut lines);
        let text = String::from_utf8(lines.out).unwrap().replace(".Lbb0_", "b");
        text.strip_prefix("endbr64\n").expect("all functions start so").to_string()
    }
}

struct Lines<'a> {
    target: &'a Target,
    module: &'a Module,
    out: Vec<u8>,
}

impl Sink for Lines<'_> {
    fn frame(&mut self, _: FrameAction) {}

    fn block(&mut self, block: BlockId) {
        self.out.extend_from_slice(format!("{block:?}:\n").as_bytes());
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let names = Names { module: self.module, target: self.target, function: 0 };
        (self.target.print)(instruction, &names, &mut self.out);
        self.out.push(b'\n');
    }

    fn location(&mut self, line: u32, column: u32) {
        self.out.extend_from_slice(format!("at {line}:{column}\n").as_bytes());
    }
}

/// The text of one instruction in a leaf without a frame.
fn one(op: MOp, size: u8, imm: i64, locations: &[Location]) -> String {
    let mut b = Builder::new();
    b.block(&[]).op(op, size, imm, locations).op(op::RETURN, 8, 0, &[]);
    let text = b.text();
    text.strip_suffix("\nret\n").unwrap_or("").replace('\n', "; ")
}

fn base(base: Base, disp: i64) -> Address {
    Address { base, index: None, scale: 1, disp }
}

#[test]
fn numbers_of_codes_are_their_places() {
    for (n, row) in codes::CODES.iter().enumerate() {
        assert_eq!(usize::from(row.code.number()), n);
    }
    assert_eq!(codes::row(Code::Movd.number()).code, Code::Movd);
}

#[test]
fn additions_take_the_form_that_fits_the_registers() {
    let (a, b, c) = (r(RAX), r(RCX), r(RDX));
    let add = |size, locations: &[Location]| one(ADD3_RR, size, 0, locations);
    assert_eq!(add(4, &[a, a, b]), "addl %ecx, %eax");
    assert_eq!(add(8, &[b, a, b]), "addq %rax, %rcx");
    assert_eq!(add(8, &[a, a, a]), "addq %rax, %rax");
    assert_eq!(add(4, &[c, a, b]), "leal (%rax,%rcx), %edx");
    assert_eq!(add(8, &[c, r(RBP), b]), "leaq (%rcx,%rbp), %rdx");
    assert_eq!(add(8, &[c, r(R13), r(RBP)]), "leaq (%r13,%rbp), %rdx");
    let add = |size, imm, locations: &[Location]| one(ADD3_RI, size, imm, locations);
    assert_eq!(add(4, 1, &[a, a]), "incl %eax");
    assert_eq!(add(8, -1, &[a, a]), "decq %rax");
    assert_eq!(add(8, 128, &[a, a]), "subq $-128, %rax");
    assert_eq!(add(4, 0xffff_fff0, &[a, a]), "addl $-16, %eax");
    assert_eq!(add(4, 0xffff_fff0, &[b, a]), "leal -16(%rax), %ecx");
    assert_eq!(add(4, 0, &[b, a]), "movl %eax, %ecx");
}

#[test]
fn constants_take_the_shortest_form() {
    let cases = [
        (8, 0, "xorl %eax, %eax"),
        (4, 1 << 32, "xorl %eax, %eax"),
        (4, 0xffff_ffff, "movl $-1, %eax"),
        (8, 0xffff_ffff, "movl $-1, %eax"),
        (8, -1, "movq $-1, %rax"),
        (8, i64::from(i32::MIN), "movq $-2147483648, %rax"),
        (8, i64::from(i32::MIN) - 1, "movabsq $-2147483649, %rax"),
        (8, 1 << 32, "movabsq $4294967296, %rax"),
    ];
    for (size, value, expected) in cases {
        assert_eq!(one(MOV_RI, size, value, &[r(RAX)]), expected);
    }
}

#[test]
fn comparisons_masks_and_extensions() {
    let (a, b) = (r(RAX), r(RSI));
    assert_eq!(one(CMP_RI, 8, 0, &[b]), "testq %rsi, %rsi");
    assert_eq!(one(CMP_RI, 1, 255, &[b]), "cmpb $-1, %sil");
    assert_eq!(one(TEST_RI, 8, 0x7f, &[b]), "testb $127, %sil");
    assert_eq!(one(TEST_RI, 8, 0x80, &[b]), "testl $128, %esi");
    assert_eq!(one(TEST_RI, 8, -2, &[b]), "testq $-2, %rsi");
    assert_eq!(one(AND_RI, 8, 0xff, &[b, b]), "movzbl %sil, %esi");
    assert_eq!(one(AND_RI, 4, 0xffff, &[b, b]), "movzwl %si, %esi");
    assert_eq!(one(AND_RI, 8, 0xffff_ffff, &[b, b]), "movl %esi, %esi");
    assert_eq!(one(AND_RI, 8, 12, &[b, b]), "andl $12, %esi");
    assert_eq!(one(AND_RI, 8, -16, &[b, b]), "andq $-16, %rsi");
    assert_eq!(one(MOVZX_RR, 4, 0, &[a, a]), "movl %eax, %eax");
    assert_eq!(one(MOVSX8_RR, 4, 0, &[a, a]), "cltq");
    assert_eq!(one(MOVSX8_RR, 4, 0, &[b, a]), "movslq %eax, %rsi");
    assert_eq!(one(MOVSX4_RR, 2, 0, &[a, a]), "cwtl");
    assert_eq!(one(SETCC_ZX, 4, 0, &[b]), "seto %sil; movzbl %sil, %esi");
}

#[test]
fn flags_that_are_wanted_survive() {
    let a = r(RAX);
    let mut b = Builder::new();
    b.block(&[1, 2]).op(CMP_RR, 4, 0, &[r(RCX), r(RDX)]).op(MOV_RI, 4, 0, &[a]).jcc(cond::B);
    b.block(&[]).op(MOV_RI, 4, 0, &[a]).op(op::RETURN, 8, 0, &[]);
    b.block(&[]).op(ADD_RI, 4, 1, &[a, a]).op(op::RETURN, 8, 0, &[]);
    assert_eq!(
        b.text(),
        "cmpl %edx, %ecx\nmovl $0, %eax\njae b2\nxorl %eax, %eax\nret\nb2:\nincl %eax\nret\n"
    );

    for (condition, expected) in [(cond::E, "decl %eax"), (cond::B, "subl $1, %eax")] {
        let mut b = Builder::new();
        b.block(&[1, 2]).op(SUB_RI, 4, 1, &[a, a]).jcc(condition);
        b.block(&[]).op(op::TRAP, 8, 0, &[]);
        b.block(&[]).op(op::TRAP, 8, 0, &[]);
        assert!(b.text().starts_with(expected));
    }
}

#[test]
fn branches_fall_through_where_they_can() {
    let blocks = |condition| {
        let mut b = Builder::new();
        b.block(&[1, 2]).jcc(condition);
        b.block(&[]).op(op::TRAP, 8, 0, &[]);
        b.block(&[]).op(op::LOCATION, 8, 4 << 32 | 3, &[]).op(op::TRAP, 8, 0, &[]);
        b
    };
    let (b0, b1, b2) = (BlockId::new(0), BlockId::new(1), BlockId::new(2));
    let start = |condition, order: &[BlockId]| {
        let text = blocks(condition).text_in(order);
        text[..text.find(":\n").unwrap() - 2].replace('\n', "; ")
    };
    assert_eq!(start(cond::L, &[b0, b1, b2]), "jge b2; ud2; ");
    assert_eq!(start(cond::L, &[b0, b2, b1]), "jl b1; at 3:4; ud2; ");
    assert_eq!(start(cond::FEQ, &[b0, b1, b2]), "jne b2; jp b2; ud2; ");
    assert_eq!(start(cond::FEQ, &[b0, b2, b1]), "jne b2; jnp b1; ");
    assert_eq!(start(cond::FNE, &[b0, b1, b2]), "jne b1; jnp b2; ");
    assert_eq!(start(cond::FNE, &[b0, b2, b1]), "jne b1; jp b1; at 3:4; ud2; ");

    let mut b = Builder::new();
    b.block(&[3, 1]).jcc(cond::E);
    b.block(&[2]).op(op::JUMP, 8, 0, &[]);
    b.block(&[2]).op(op::JUMP, 8, 0, &[]);
    b.block(&[2]).op(op::JUMP, 8, 0, &[]);
    assert_eq!(b.text(), "je b3\nb2:\njmp b2\nb3:\njmp b2\n");
}

#[test]
fn a_jump_to_a_bare_return_is_a_return() {
    let mut b = Builder::new();
    b.block(&[1, 2]).jcc(cond::E);
    b.block(&[3]).op(op::JUMP, 8, 0, &[]);
    b.block(&[3]).op(NEG_R, 4, 0, &[r(RAX), r(RAX)]).op(op::JUMP, 8, 0, &[]);
    b.block(&[]).op(op::RETURN, 8, 0, &[]);
    let order = [0, 2, 1, 3].map(BlockId::new);
    assert_eq!(b.text_in(&order), "je b1\nnegl %eax\nret\nb1:\nret\n");
}

#[test]
fn moves_of_both_banks() {
    let spill = Location::Spill(b_spill());
    let mut b = Builder::new();
    b.allocation.spills.push(());
    b.block(&[]);
    for (from, to, size) in [
        (r(RAX), r(RCX), 4),
        (r(RAX), r(RAX), 4),
        (r(RAX), spill, 8),
        (spill, r(R9), 4),
        (r(xmm(1)), r(xmm(2)), 4),
        (r(xmm(1)), spill, 4),
        (spill, r(xmm(9)), 8),
        (r(xmm(1)), r(RDX), 8),
    ] {
        b.step(Step::Move { from, to, size });
    }
    b.step(Step::Swap(RAX, R8)).step(Step::Swap(xmm(0), xmm(1)));
    b.op(ADD_RR, 8, 0, &[r(RAX), r(RAX), spill]).op(op::RETURN, 8, 0, &[]);
    let expected = "pushq %rax\n\
        movl %eax, %ecx\nmovq %rax, (%rsp)\nmovl (%rsp), %r9d\nmovaps %xmm1, %xmm2\n\
        movss %xmm1, (%rsp)\nmovsd (%rsp), %xmm9\nmovq %xmm1, %rdx\nxchgq %r8, %rax\n\
        xorps %xmm1, %xmm0\nxorps %xmm0, %xmm1\nxorps %xmm1, %xmm0\naddq (%rsp), %rax\n\
        popq %rcx\nret\n";
    assert_eq!(b.text(), expected);
}

fn b_spill() -> crate::target::machine::SpillId {
    crate::target::machine::SpillId::new(0)
}

#[test]
fn rematerialised_constants_go_where_they_are_sent() {
    let mut b = Builder::new();
    b.block(&[]).op(MOV_RI, 8, 7, &[r(RAX)]);
    b.step(Step::Rematerialise { block: BlockId::new(0), inst: 0, to: R10 });
    b.op(op::RETURN, 8, 0, &[]);
    assert_eq!(b.text(), "movl $7, %eax\nmovl $7, %r10d\nret\n");
}

#[test]
fn frames() {
    let build = |calls, outgoing, used: &[PReg], slots: &[(u64, u32)]| {
        let mut b = Builder::new();
        b.code.calls = calls;
        b.code.outgoing = outgoing;
        b.allocation.used = PRegSet::of(used);
        b.block(&[]);
        for &(size, align) in slots {
            let s = b.slot(size, align);
            b.at(LEA, 8, base(Base::Slot(s), 4), &[r(RAX)]);
        }
        b.at(MOV_RM, 8, base(Base::Incoming, 8), &[r(RAX)]);
        b.op(op::RETURN, 8, 0, &[]);
        b.text().replace('\n', "; ")
    };
    assert_eq!(build(false, 0, &[RCX], &[]), "movq 16(%rsp), %rax; ret; ");
    assert_eq!(build(true, 0, &[], &[]), "pushq %rax; movq 24(%rsp), %rax; popq %rcx; ret; ");
    assert_eq!(build(true, 0, &[R12], &[]), "pushq %r12; movq 24(%rsp), %rax; popq %r12; ret; ");
    assert_eq!(
        build(true, 16, &[RBX, RBP], &[(4, 4), (16, 16)]),
        "pushq %rbx; pushq %rbp; subq $56, %rsp; leaq 20(%rsp), %rax; leaq 36(%rsp), %rax; \
         movq 88(%rsp), %rax; addq $56, %rsp; popq %rbp; popq %rbx; ret; "
    );
    assert_eq!(
        build(false, 0, &[], &[(1000, 8), (5, 4)]),
        "subq $1008, %rsp; leaq 12(%rsp), %rax; leaq 4(%rsp), %rax; movq 1024(%rsp), %rax; \
         addq $1008, %rsp; ret; "
    );
    assert_eq!(
        build(false, 0, &[], &[(128, 8)]),
        "addq $-128, %rsp; leaq 4(%rsp), %rax; movq 144(%rsp), %rax; subq $-128, %rsp; ret; "
    );
}

#[test]
fn run_time_allocation_needs_a_frame_pointer() {
    let mut b = Builder::new();
    b.code.dynamic = true;
    b.code.outgoing = 8;
    b.allocation.used = PRegSet::of(&[RBX, RBP]);
    b.allocation.spills.push(());
    let s = b.slot(8, 8);
    b.block(&[])
        .at(LEA, 8, base(Base::Slot(s), 0), &[r(RAX)])
        .op(ALLOC_R, 8, 0, &[r(RBX), r(RAX)])
        .op(ALLOC_I, 8, 32, &[r(RCX)])
        .step(Step::Move { from: r(RAX), to: Location::Spill(b_spill()), size: 8 })
        .at(MOV_MR, 8, base(Base::Outgoing, 0), &[r(RAX)])
        .at(MOV_RM, 8, base(Base::Incoming, 0), &[r(RAX)])
        .op(op::RETURN, 8, 0, &[]);
    let expected = "pushq %rbp\nmovq %rsp, %rbp\npushq %rbx\nsubq $40, %rsp\n\
        leaq -24(%rbp), %rax\nsubq %rax, %rsp\nleaq 16(%rsp), %rbx\n\
        subq $32, %rsp\nleaq 16(%rsp), %rcx\nmovq %rax, -32(%rbp)\nmovq %rax, (%rsp)\n\
        movq 16(%rbp), %rax\nleaq -8(%rbp), %rsp\npopq %rbx\npopq %rbp\nret\n";
    assert_eq!(b.text(), expected);
}

#[test]
fn frames_past_every_displacement() {
    let mut b = Builder::new();
    let s = b.slot(1 << 32, 8);
    b.block(&[])
        .at(MOV_MR, 4, base(Base::Slot(s), 1 << 31), &[r(R11)])
        .at(MOV_MR, 4, base(Base::Slot(s), 8), &[r(R11)])
        .op(op::RETURN, 8, 0, &[]);
    let expected = "movabsq $4294967304, %r11\nsubq %r11, %rsp\n\
        movq %r10, (%rsp)\nmovabsq $2147483656, %r10\nleaq (%rsp,%r10), %r10\n\
        movl %r11d, (%r10)\nmovq (%rsp), %r10\nmovl %r11d, 16(%rsp)\n\
        movabsq $4294967304, %r11\naddq %r11, %rsp\nret\n";
    assert_eq!(b.text(), expected);
}

#[test]
fn blits_overlap_at_the_end() {
    let blit = |bytes, scratch| {
        let mut b = Builder::new();
        b.code.addresses.push(base(Base::None, 0));
        b.code.addresses.push(base(Base::Reg(1), 100));
        b.code.addresses.push(base(Base::Reg(2), 0));
        let address = Some(AddressId::new(1));
        let inst = MInst { imm: bytes, address, ..MInst::new(BLIT, 8) };
        b.block(&[]).inst(inst, &[r(scratch), r(RSI), r(RDI)]).op(op::RETURN, 8, 0, &[]);
        let text = b.text();
        let loads: Vec<String> = text
            .lines()
            .filter(|l| l.contains("%rsi"))
            .map(|l| {
                let (name, rest) = l.split_once(' ').unwrap();
                format!("{name} {}", rest.split_once('(').unwrap().0.parse::<i64>().unwrap() - 100)
            })
            .collect();
        loads.join(", ")
    };
    assert_eq!(blit(1, RAX), "movzbl 0");
    assert_eq!(blit(3, RAX), "movzwl 0, movzbl 2");
    assert_eq!(blit(4, xmm(0)), "movss 0");
    assert_eq!(blit(7, xmm(0)), "movss 0, movss 3");
    assert_eq!(blit(12, xmm(0)), "movsd 0, movss 8");
    assert_eq!(blit(13, xmm(0)), "movsd 0, movsd 5");
    assert_eq!(blit(24, xmm(0)), "movups 0, movsd 16");
    assert_eq!(blit(35, xmm(0)), "movups 0, movups 16, movups 19");
}

#[test]
fn thread_local_addresses() {
    let symbol = Base::Symbol(SymbolId::new(0), Access::Thread);
    let mut b = Builder::new();
    b.block(&[]).at(LEA_THREAD, 8, base(symbol, 4), &[r(RSI)]).op(op::RETURN, 8, 0, &[]);
    assert_eq!(b.text(), "movq %fs:0, %rsi\nleaq f@tpoff+4(%rsi), %rsi\nret\n");
}

/// `entry: if … then early else late; early: jmp end; late: call; jmp end; end: return`.
fn early_return() -> Builder {
    let mut b = Builder::new();
    b.code.calls = true;
    b.allocation.used = PRegSet::of(&[RBX]);
    b.code.clobbers.push(SYSV.caller_saved);
    b.block(&[1, 2]).op(op::PARAMS, 8, 0, &[r(RDI)]);
    b.code.operands[0].role = Role::Def;
    b.step(Step::Move { from: r(RDI), to: r(RBX), size: 4 });
    b.op(CMP_RI, 4, 2, &[r(RBX)]).jcc(cond::E);
    b.block(&[3]);
    b.step(Step::Move { from: r(RBX), to: r(RAX), size: 4 }).op(op::JUMP, 8, 0, &[]);
    b.block(&[3]);
    let call = MInst { clobbers: 1, ..MInst::new(CALL_R, 8) };
    b.inst(call, &[r(RAX)]).op(ADD_RR, 4, 0, &[r(RBX), r(RBX), r(RAX)]);
    b.step(Step::Move { from: r(RBX), to: r(RAX), size: 4 }).op(op::JUMP, 8, 0, &[]);
    b.block(&[]).op(op::RETURN, 8, 0, &[]);
    let preds: [&[usize]; 4] = [&[], &[0], &[0], &[1, 2]];
    for (n, preds) in preds.iter().enumerate() {
        let preds = preds.iter().map(|&p| BlockId::new(p)).collect();
        b.code.blocks[BlockId::new(n)].preds = preds;
    }
    b
}

#[test]
fn frames_are_made_after_an_early_return() {
    let expected = "cmpl $2, %edi\nje b1\npushq %rbx\nmovq %rdi, %rbx\ncall *%rax\n\
        addl %eax, %ebx\nmovl %ebx, %eax\npopq %rbx\nret\nb1:\nmovl %edi, %eax\nret\n";
    let order = [0, 2, 1, 3].map(BlockId::new);
    assert_eq!(early_return().text_in(&order), expected);
    // The block at the end is emitted once a side, even where it comes next.
    let expected = "cmpl $2, %edi\njne b2\nmovl %edi, %eax\nret\nb2:\npushq %rbx\n\
        movq %rdi, %rbx\ncall *%rax\naddl %eax, %ebx\nmovl %ebx, %eax\npopq %rbx\nret\n";
    assert_eq!(early_return().text(), expected);
}

#[test]
fn frames_are_made_at_once_where_that_is_safer() {
    // In a loop.
    let mut b = early_return();
    b.code.blocks[BlockId::new(2)].depth = 1;
    assert!(b.text().starts_with("pushq %rbx\n"));
    // Where the entry needs it.
    let mut b = early_return();
    b.allocation.spills.push(());
    b.allocation.steps[BlockId::new(0)][1] =
        Step::Move { from: r(RDI), to: Location::Spill(b_spill()), size: 4 };
    assert!(b.text().starts_with("pushq %rbx\n"));
    // If the early part changes the register, another stands for it.
    let mut b = early_return();
    b.block(&[]);
    b.op(NEG_R, 4, 0, &[r(RBX), r(RBX)]);
    let number = b.code.blocks[BlockId::new(4)].insts.len() - 1;
    let neg = b.code.blocks[BlockId::new(4)].insts[number];
    // The block was only there to make the instruction.
    let mut blocks = std::mem::take(&mut b.code.blocks).into_vec();
    blocks.pop();
    b.code.blocks = blocks.into();
    b.code.blocks[BlockId::new(1)].insts.insert(0, neg);
    b.allocation.steps[BlockId::new(1)] =
        vec![Step::Inst(0), Step::Move { from: r(RBX), to: r(RAX), size: 4 }, Step::Inst(1)];
    for n in 0..2 {
        let at = neg.first as usize + n;
        b.code.operands[at].role = [Role::Def, Role::Use][n];
    }
    let order = [0, 2, 1, 3].map(BlockId::new);
    let text = b.text_in(&order);
    assert!(text.starts_with("movl %edi, %ecx\ncmpl $2, %ecx\nje b1\npushq %rbx\nmovq %rcx, %rbx"));
    assert!(text.ends_with("b1:\nnegl %ecx\nmovl %ecx, %eax\nret\n"));
}
