.text
.balign 16
.globl leaf
leaf:
.cfi_startproc
	endbr64
	leal (%rdi,%rsi), %eax
	ret
.cfi_endproc
.type leaf, @function
.size leaf, .-leaf
.text
.balign 16
.globl calls
calls:
.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl $1, %edi
	call g
	movl $2, %edi
	call g
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.type calls, @function
.size calls, .-calls
.text
.balign 16
.globl saves
saves:
.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	.cfi_offset %rbx, -24
	subq $24, %rsp
	movsd %xmm0, -32(%rbp)
	movl %edi, %ebx
	leaq -24(%rbp), %rsi
	movl %ebx, %edi
	call h
	cvttsd2si -32(%rbp), %ecx
	addl %ebx, %eax
	addl %ecx, %eax
	addl -24(%rbp), %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.type saves, @function
.size saves, .-saves
.text
.balign 16
.globl late
late:
.cfi_startproc
	endbr64
	cmpl $100, %edi
	jge .Lbb3_1
	movl $5, %eax
	ret
.Lbb3_1:
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	.cfi_offset %rbx, -24
	pushq %rax
	movq %rdi, %rbx
	movl %ebx, %edi
	call g
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.type late, @function
.size late, .-late
.text
.balign 16
.globl allocates
allocates:
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
	movl %edi, %ebx
	leaq 15(%rsi), %rax
	andq $-16, %rax
	subq %rax, %rsp
	movq %rsp, %rsi
	movl %ebx, (%rsi)
	movl $1, %edi
	call h
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.type allocates, @function
.size allocates, .-allocates
.text
.balign 16
.globl large
large:
.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	.cfi_offset %rbx, -24
	subq $20008, %rsp
	movl %edi, %ebx
	leaq -20016(%rbp), %rsi
	movl %ebx, %edi
	call h
	addl -20016(%rbp), %eax
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.type large, @function
.size large, .-large
.text
.balign 16
.globl variadic
variadic:
.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	.cfi_offset %rbx, -24
	subq $216, %rsp
	movl %edi, %ebx
	movq %rsi, -184(%rbp)
	movq %rdx, -176(%rbp)
	movq %rcx, -168(%rbp)
	movq %r8, -160(%rbp)
	movq %r9, -152(%rbp)
	testb %al, %al
	je .Lbb6_3
	movups %xmm0, -144(%rbp)
	movups %xmm1, -128(%rbp)
	movups %xmm2, -112(%rbp)
	movups %xmm3, -96(%rbp)
	movups %xmm4, -80(%rbp)
	movups %xmm5, -64(%rbp)
	movups %xmm6, -48(%rbp)
	movups %xmm7, -32(%rbp)
.Lbb6_3:
	movl $8, -224(%rbp)
	movl $48, -220(%rbp)
	leaq 16(%rbp), %rax
	movq %rax, -216(%rbp)
	leaq -192(%rbp), %rax
	movq %rax, -208(%rbp)
	leaq -224(%rbp), %rsi
	movl %ebx, %edi
	call h
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.type variadic, @function
.size variadic, .-variadic
.section .note.GNU-stack,"",@progbits
