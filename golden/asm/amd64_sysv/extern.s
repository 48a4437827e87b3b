.text
.balign 16
.globl f
f:
	endbr64
	pushq %rax
	movq number@GOTPCREL(%rip), %rax
	movl (%rax), %edi
	call g@PLT
	popq %rcx
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
