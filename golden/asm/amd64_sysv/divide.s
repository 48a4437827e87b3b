.text
.balign 16
.globl quotient
quotient:
	endbr64
	movl %edi, %eax
	cltd
	idivl %esi
	ret
.type quotient, @function
.size quotient, .-quotient
.text
.balign 16
.globl rest
rest:
	endbr64
	movq %rdi, %rax
	xorl %edx, %edx
	divq %rsi
	movq %rdx, %rax
	ret
.type rest, @function
.size rest, .-rest
.section .note.GNU-stack,"",@progbits
