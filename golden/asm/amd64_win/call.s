.text
.balign 16
.globl f
.def f; .scl 2; .type 32; .endef
f:
	pushq %rbx
	subq $64, %rsp
	movq %rcx, %rbx
	movslq %edx, %r9
	movq $5, 32(%rsp)
	movq $6, 40(%rsp)
	movq $7, 48(%rsp)
	movq %rbx, 56(%rsp)
	movl $1, %ecx
	movl $2, %edx
	movl $3, %r8d
	call g
	addq %rbx, %rax
	addq $64, %rsp
	popq %rbx
	ret
