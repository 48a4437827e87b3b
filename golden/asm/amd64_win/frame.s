.text
.balign 16
.globl leaf
.def leaf; .scl 2; .type 32; .endef
leaf:
	movl %ecx, %eax
	ret
.text
.balign 16
.globl kept
.def kept; .scl 2; .type 32; .endef
kept:
	pushq %rbx
	pushq %rsi
	subq $40, %rsp
	movl %ecx, %ebx
	movl %edx, %esi
	call g
	leal (%rbx,%rsi), %eax
	addq $40, %rsp
	popq %rsi
	popq %rbx
	ret
.text
.balign 16
.globl dynamic
.def dynamic; .scl 2; .type 32; .endef
dynamic:
	pushq %rbp
	movq %rsp, %rbp
	subq $32, %rsp
	leaq 15(%rcx), %rax
	andq $-16, %rax
	callq ___chkstk_ms
	subq %rax, %rsp
	leaq 32(%rsp), %rcx
	call use
	leaq (%rbp), %rsp
	popq %rbp
	ret
