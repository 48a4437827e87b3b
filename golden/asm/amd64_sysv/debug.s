.file 1 "first.c"
.text
.balign 16
.globl f
f:
	endbr64
	pushq %rax
	.loc 1 3
	incl %edi
	.loc 1 4 7
	call g
	.loc 1 5
	popq %rcx
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
