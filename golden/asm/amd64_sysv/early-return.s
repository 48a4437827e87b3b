.text
.balign 16
.globl f
f:
	endbr64
	testl %edi, %edi
	je .Lbb0_1
	pushq %rbx
	pushq %rbp
	pushq %rax
	movq %rdi, %rbx
	movq %rbx, %rdi
	call g
	movl %eax, %ebp
	movq %rbx, %rdi
	call h
	addl %ebp, %eax
	popq %rcx
	popq %rbp
	popq %rbx
	ret
.Lbb0_1:
	xorl %eax, %eax
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
