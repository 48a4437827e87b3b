.data
.balign 8
format:
	.ascii "%d %g\n"
	.byte 0
.text
.balign 16
.globl print
.def print; .scl 2; .type 32; .endef
print:
	subq $40, %rsp
	movq %xmm1, %r8
	movl %ecx, %edx
	leaq format(%rip), %rcx
	movaps %xmm1, %xmm2
	call printf
	addq $40, %rsp
	ret
.text
.balign 16
.globl first
.def first; .scl 2; .type 32; .endef
first:
	subq $32, %rsp
	movq %rdx, 48(%rsp)
	movq %r8, 56(%rsp)
	movq %r9, 64(%rsp)
	leaq 48(%rsp), %rax
	movq %rax, (%rsp)
	movq (%rsp), %rax
	leaq 8(%rax), %rcx
	movq %rcx, (%rsp)
	movl (%rax), %eax
	addq $32, %rsp
	ret
