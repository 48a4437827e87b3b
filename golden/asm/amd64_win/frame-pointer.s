.text
.balign 16
.globl leaf
.def leaf; .scl 2; .type 32; .endef
leaf:
.seh_proc leaf
	.seh_endprologue
	leal (%rcx,%rdx), %eax
	ret
.seh_endproc
.text
.balign 16
.globl calls
.def calls; .scl 2; .type 32; .endef
calls:
.seh_proc calls
	pushq %rbp
	.seh_pushreg %rbp
	movq %rsp, %rbp
	.seh_setframe %rbp, 0
	subq $32, %rsp
	.seh_stackalloc 32
	.seh_endprologue
	movl $1, %ecx
	call g
	movl $2, %ecx
	call g
	leaq (%rbp), %rsp
	popq %rbp
	ret
.seh_endproc
.text
.balign 16
.globl saves
.def saves; .scl 2; .type 32; .endef
saves:
.seh_proc saves
	pushq %rbp
	.seh_pushreg %rbp
	pushq %rbx
	.seh_pushreg %rbx
	subq $72, %rsp
	.seh_stackalloc 72
	movaps %xmm6, 48(%rsp)
	.seh_savexmm %xmm6, 48
	leaq 80(%rsp), %rbp
	.seh_setframe %rbp, 80
	.seh_endprologue
	movl %ecx, %ebx
	movaps %xmm1, %xmm6
	movl %ebx, %ecx
	leaq -48(%rbp), %rdx
	call h
	cvttsd2si %xmm6, %ecx
	addl %ebx, %eax
	addl %ecx, %eax
	addl -48(%rbp), %eax
	movaps -32(%rbp), %xmm6
	leaq -8(%rbp), %rsp
	popq %rbx
	popq %rbp
	ret
.seh_endproc
.text
.balign 16
.globl late
.def late; .scl 2; .type 32; .endef
late:
.seh_proc late
	pushq %rbp
	.seh_pushreg %rbp
	pushq %rbx
	.seh_pushreg %rbx
	subq $40, %rsp
	.seh_stackalloc 40
	leaq 48(%rsp), %rbp
	.seh_setframe %rbp, 48
	.seh_endprologue
	movl %ecx, %ebx
	cmpl $100, %ebx
	jge .Lbb3_1
	movl $5, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	popq %rbp
	ret
.Lbb3_1:
	movl %ebx, %ecx
	call g
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	popq %rbp
	ret
.seh_endproc
.text
.balign 16
.globl allocates
.def allocates; .scl 2; .type 32; .endef
allocates:
.seh_proc allocates
	pushq %rbp
	.seh_pushreg %rbp
	pushq %rbx
	.seh_pushreg %rbx
	subq $40, %rsp
	.seh_stackalloc 40
	leaq 48(%rsp), %rbp
	.seh_setframe %rbp, 48
	.seh_endprologue
	movl %ecx, %ebx
	leaq 15(%rdx), %rax
	andq $-16, %rax
	callq ___chkstk_ms
	subq %rax, %rsp
	leaq 32(%rsp), %rdx
	movl %ebx, (%rdx)
	movl $1, %ecx
	call h
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	popq %rbp
	ret
.seh_endproc
.text
.balign 16
.globl large
.def large; .scl 2; .type 32; .endef
large:
.seh_proc large
	pushq %rbp
	.seh_pushreg %rbp
	pushq %rbx
	.seh_pushreg %rbx
	pushq %rax
	.seh_stackalloc 8
	leaq 16(%rsp), %rbp
	.seh_setframe %rbp, 16
	movl $20032, %eax
	callq ___chkstk_ms
	subq %rax, %rsp
	.seh_stackalloc 20032
	.seh_endprologue
	movl %ecx, %ebx
	movl %ebx, %ecx
	leaq -20016(%rbp), %rdx
	call h
	addl -20016(%rbp), %eax
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	popq %rbp
	ret
.seh_endproc
.text
.balign 16
.globl variadic
.def variadic; .scl 2; .type 32; .endef
variadic:
.seh_proc variadic
	pushq %rbp
	.seh_pushreg %rbp
	pushq %rbx
	.seh_pushreg %rbx
	subq $72, %rsp
	.seh_stackalloc 72
	leaq 80(%rsp), %rbp
	.seh_setframe %rbp, 80
	.seh_endprologue
	movl %ecx, %ebx
	movq %rdx, 24(%rbp)
	movq %r8, 32(%rbp)
	movq %r9, 40(%rbp)
	leaq 24(%rbp), %rax
	movq %rax, -48(%rbp)
	movl %ebx, %ecx
	leaq -48(%rbp), %rdx
	call h
	addl %ebx, %eax
	leaq -8(%rbp), %rsp
	popq %rbx
	popq %rbp
	ret
.seh_endproc
