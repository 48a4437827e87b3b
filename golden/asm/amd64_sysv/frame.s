.text
.balign 16
.globl leaf
leaf:
	endbr64
	movl %edi, %eax
	ret
.type leaf, @function
.size leaf, .-leaf
.text
.balign 16
.globl kept
kept:
	endbr64
	pushq %rbx
	pushq %rbp
	pushq %rax
	movl %edi, %ebx
	movl %esi, %ebp
	call g
	leal (%rbx,%rbp), %eax
	popq %rcx
	popq %rbp
	popq %rbx
	ret
.type kept, @function
.size kept, .-kept
.text
.balign 16
.globl dynamic
dynamic:
	endbr64
	pushq %rbp
	movq %rsp, %rbp
	leaq 15(%rdi), %rax
	andq $-16, %rax
	subq %rax, %rsp
	movq %rsp, %rdi
	call use
	leave
	ret
.type dynamic, @function
.size dynamic, .-dynamic
.section .note.GNU-stack,"",@progbits
