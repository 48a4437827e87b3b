.text
.balign 16
.globl below
below:
	endbr64
	xorl %eax, %eax
	cmpl %esi, %edi
	setb %al
	ret
.type below, @function
.size below, .-below
.text
.balign 16
.globl equal
equal:
	endbr64
	xorl %eax, %eax
	cmpq $1000, %rdi
	sete %al
	ret
.type equal, @function
.size equal, .-equal
.section .note.GNU-stack,"",@progbits
