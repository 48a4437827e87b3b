.text
.balign 16
.globl _f
_f:
	pushq %rbx
	subq $16, %rsp
	movq %rdi, %rbx
	movslq %esi, %rcx
	movq $7, (%rsp)
	movq %rbx, 8(%rsp)
	movl $3, %edx
	movl $2, %esi
	movl $1, %edi
	movl $5, %r8d
	movl $6, %r9d
	call _g
	addq %rbx, %rax
	addq $16, %rsp
	popq %rbx
	ret
.subsections_via_symbols
