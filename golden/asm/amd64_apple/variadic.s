.data
.balign 8
_format:
	.ascii "%d %g\n"
	.byte 0
.text
.balign 16
.globl _print
_print:
	pushq %rax
	movl %edi, %esi
	movl $1, %eax
	leaq _format(%rip), %rdi
	call _printf
	popq %rcx
	ret
.text
.balign 16
.globl _first
_first:
	subq $216, %rsp
	movq %rsi, 40(%rsp)
	movq %rdx, 48(%rsp)
	movq %rcx, 56(%rsp)
	movq %r8, 64(%rsp)
	movq %r9, 72(%rsp)
	testb %al, %al
	je Lbb1_3
	movups %xmm0, 80(%rsp)
	movups %xmm1, 96(%rsp)
	movups %xmm2, 112(%rsp)
	movups %xmm3, 128(%rsp)
	movups %xmm4, 144(%rsp)
	movups %xmm5, 160(%rsp)
	movups %xmm6, 176(%rsp)
	movups %xmm7, 192(%rsp)
Lbb1_3:
	movl $8, (%rsp)
	movl $48, 4(%rsp)
	leaq 224(%rsp), %rax
	movq %rax, 8(%rsp)
	leaq 32(%rsp), %rax
	movq %rax, 16(%rsp)
	movl (%rsp), %eax
	cmpl $48, %eax
	jae Lbb1_4
	movq %rax, %rcx
	addq 16(%rsp), %rcx
	addl $8, %eax
	movl %eax, (%rsp)
	jmp Lbb1_6
Lbb1_4:
	movq 8(%rsp), %rcx
	leaq 8(%rcx), %rax
	movq %rax, 8(%rsp)
Lbb1_6:
	movl (%rcx), %eax
	addq $216, %rsp
	ret
.subsections_via_symbols
