.text
.balign 16
.globl early
early:
.cfi_startproc
	endbr64
	testl %edi, %edi
	je .Lbb0_1
	pushq %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	pushq %rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	pushq %r12
	.cfi_def_cfa_offset 32
	.cfi_offset %r12, -32
	movq %rdi, %rbx
	movq %rsi, %rbp
	movl %ebx, %edi
	call g
	movl %eax, %r12d
	movl %r12d, %edi
	call g
	addl %eax, %r12d
	leal (%rbx,%r12), %edi
	movq (%rbp), %rsi
	call h
	testl %eax, %eax
	je .Lbb0_3
	movl $1, %edi
	call g
	.cfi_remember_state
	popq %r12
	.cfi_def_cfa_offset 24
	.cfi_restore %r12
	popq %rbp
	.cfi_def_cfa_offset 16
	.cfi_restore %rbp
	popq %rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
	.cfi_restore_state
.Lbb0_1:
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbx
	.cfi_restore %rbp
	.cfi_restore %r12
	movl $7, %eax
	ret
.Lbb0_3:
	.cfi_def_cfa %rsp, 32
	.cfi_offset %rbx, -16
	.cfi_offset %rbp, -24
	.cfi_offset %r12, -32
	movl %r12d, %eax
	popq %r12
	.cfi_def_cfa_offset 24
	.cfi_restore %r12
	popq %rbp
	.cfi_def_cfa_offset 16
	.cfi_restore %rbp
	popq %rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
.cfi_endproc
.type early, @function
.size early, .-early
.text
.balign 16
.globl dyn
dyn:
.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	.cfi_offset %rbx, -24
	pushq %rax
	movq %rdi, %rbx
	leaq 15(%rbx), %rax
	andq $-16, %rax
	subq %rax, %rsp
	movq %rsp, %rdi
	movq %rbx, %rsi
	call k
	addq %rbx, %rax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.type dyn, @function
.size dyn, .-dyn
.section .note.GNU-stack,"",@progbits
