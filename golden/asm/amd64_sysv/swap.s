.text
.balign 16
.globl fibonacci
fibonacci:
	endbr64
	xorl %eax, %eax
	movl $1, %ecx
	jmp .Lbb0_1
.Lbb0_2:
	addq %rcx, %rax
	decl %edi
	movq %rax, %rdx
	movq %rcx, %rax
	movq %rdx, %rcx
.Lbb0_1:
	testl %edi, %edi
	jne .Lbb0_2
	ret
.type fibonacci, @function
.size fibonacci, .-fibonacci
.text
.balign 16
.globl swap
swap:
	endbr64
	movq %rdi, %rax
	jmp .Lbb1_1
.Lbb1_2:
	decl %edx
	movq %rax, %rcx
	movq %rsi, %rax
	movq %rcx, %rsi
.Lbb1_1:
	testl %edx, %edx
	jne .Lbb1_2
	subq %rsi, %rax
	ret
.type swap, @function
.size swap, .-swap
.section .note.GNU-stack,"",@progbits
