.text
.balign 16
.globl _leaf
_leaf:
.cfi_startproc
	leal (%rdi,%rsi), %eax
	ret
.cfi_endproc
.text
.balign 16
.globl _calls
_calls:
.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl $1, %edi
	call _g
	movl $2, %edi
	call _g
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.text
.balign 16
.globl _saves
_saves:
.cfi_startproc
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
	call _h
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
.text
.balign 16
.globl _late
_late:
.cfi_startproc
	cmpl $100, %edi
	jge Lbb3_1
	movl $5, %eax
	ret
Lbb3_1:
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
	call _g
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.text
.balign 16
.globl _allocates
_allocates:
.cfi_startproc
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
	call _h
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.text
.balign 16
.globl _large
_large:
.cfi_startproc
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
	call _h
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
.text
.balign 16
.globl _variadic
_variadic:
.cfi_startproc
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
	je Lbb6_3
	movups %xmm0, -144(%rbp)
	movups %xmm1, -128(%rbp)
	movups %xmm2, -112(%rbp)
	movups %xmm3, -96(%rbp)
	movups %xmm4, -80(%rbp)
	movups %xmm5, -64(%rbp)
	movups %xmm6, -48(%rbp)
	movups %xmm7, -32(%rbp)
Lbb6_3:
	movl $8, -224(%rbp)
	movl $48, -220(%rbp)
	leaq 16(%rbp), %rax
	movq %rax, -216(%rbp)
	leaq -192(%rbp), %rax
	movq %rax, -208(%rbp)
	leaq -224(%rbp), %rsi
	movl %ebx, %edi
	call _h
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	.cfi_restore %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.cfi_endproc
.subsections_via_symbols
