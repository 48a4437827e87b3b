.text
.balign 16
.globl swap
swap:
	endbr64
	subq $16, %rsp
	movq %rdi, (%rsp)
	movsd %xmm0, 8(%rsp)
	movq (%rsp), %rax
	movsd 8(%rsp), %xmm0
	addq $16, %rsp
	ret
.type swap, @function
.size swap, .-swap
.text
.balign 16
.globl sum
sum:
	endbr64
	subq $16, %rsp
	movq %rdi, (%rsp)
	movl %esi, 8(%rsp)
	movl (%rsp), %eax
	addl 8(%rsp), %eax
	addq $16, %rsp
	ret
.type sum, @function
.size sum, .-sum
.text
.balign 16
.globl pass
pass:
	endbr64
	pushq %rbx
	subq $64, %rsp
	movq %rdi, %rbx
	movups 80(%rsp), %xmm0
	movups %xmm0, (%rsp)
	movsd 96(%rsp), %xmm0
	movsd %xmm0, 16(%rsp)
	leaq 32(%rsp), %rdi
	call g
	movups 32(%rsp), %xmm0
	movups %xmm0, (%rbx)
	movsd 48(%rsp), %xmm0
	movsd %xmm0, 16(%rbx)
	movq %rbx, %rax
	addq $64, %rsp
	popq %rbx
	ret
.type pass, @function
.size pass, .-pass
.section .note.GNU-stack,"",@progbits
