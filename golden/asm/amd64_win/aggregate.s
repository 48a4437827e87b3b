.text
.balign 16
.globl swap
.def swap; .scl 2; .type 32; .endef
swap:
	movq %rcx, %rax
	movups (%rdx), %xmm0
	movups %xmm0, (%rax)
	ret
.text
.balign 16
.globl sum
.def sum; .scl 2; .type 32; .endef
sum:
	movl (%rcx), %eax
	addl 8(%rcx), %eax
	ret
.text
.balign 16
.globl pass
.def pass; .scl 2; .type 32; .endef
pass:
	pushq %rbx
	subq $96, %rsp
	movq %rcx, %rbx
	movups (%rdx), %xmm0
	movups %xmm0, 64(%rsp)
	movsd 16(%rdx), %xmm0
	movsd %xmm0, 80(%rsp)
	leaq 32(%rsp), %rcx
	leaq 64(%rsp), %rdx
	call g
	movups 32(%rsp), %xmm0
	movups %xmm0, (%rbx)
	movsd 48(%rsp), %xmm0
	movsd %xmm0, 16(%rbx)
	movq %rbx, %rax
	addq $96, %rsp
	popq %rbx
	ret
