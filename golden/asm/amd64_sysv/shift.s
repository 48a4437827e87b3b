.text
.balign 16
.globl constant
constant:
	endbr64
	movl %edi, %eax
	shll $5, %eax
	sarl $3, %eax
	shrl $1, %eax
	ret
.type constant, @function
.size constant, .-constant
.text
.balign 16
.globl variable
variable:
	endbr64
	movq %rdi, %rax
	movl %esi, %ecx
	shlq %cl, %rax
	ret
.type variable, @function
.size variable, .-variable
.section .note.GNU-stack,"",@progbits
