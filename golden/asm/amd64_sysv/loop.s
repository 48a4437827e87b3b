.text
.balign 16
.globl sum
sum:
	endbr64
	xorl %eax, %eax
	jmp .Lbb0_1
.Lbb0_2:
	addl (%rdi), %eax
	addq $4, %rdi
	decl %esi
.Lbb0_1:
	testl %esi, %esi
	jne .Lbb0_2
	ret
.type sum, @function
.size sum, .-sum
.section .note.GNU-stack,"",@progbits
