.text
.balign 16
.globl _swap
_swap:
	subq $16, %rsp
	movq %rdi, (%rsp)
	movsd %xmm0, 8(%rsp)
	movq (%rsp), %rax
	movsd 8(%rsp), %xmm0
	addq $16, %rsp
	ret
.text
.balign 16
.globl _sum
_sum:
	subq $16, %rsp
	movq %rdi, (%rsp)
	movl %esi, 8(%rsp)
	movl (%rsp), %eax
	addl 8(%rsp), %eax
	addq $16, %rsp
	ret
.text
.balign 16
.globl _pass
_pass:
	pushq %rbx
	subq $64, %rsp
	movq %rdi, %rbx
	movups 80(%rsp), %xmm0
	movups %xmm0, (%rsp)
	movsd 96(%rsp), %xmm0
	movsd %xmm0, 16(%rsp)
	leaq 32(%rsp), %rdi
	call _g
	movups 32(%rsp), %xmm0
	movups %xmm0, (%rbx)
	movsd 48(%rsp), %xmm0
	movsd %xmm0, 16(%rbx)
	movq %rbx, %rax
	addq $64, %rsp
	popq %rbx
	ret
.subsections_via_symbols
