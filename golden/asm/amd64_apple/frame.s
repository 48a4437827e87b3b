.text
.balign 16
.globl _leaf
_leaf:
	movl %edi, %eax
	ret
.text
.balign 16
.globl _kept
_kept:
	pushq %rbx
	pushq %rbp
	pushq %rax
	movl %edi, %ebx
	movl %esi, %ebp
	call _g
	leal (%rbx,%rbp), %eax
	popq %rcx
	popq %rbp
	popq %rbx
	ret
.text
.balign 16
.globl _dynamic
_dynamic:
	pushq %rbp
	movq %rsp, %rbp
	leaq 15(%rdi), %rax
	andq $-16, %rax
	subq %rax, %rsp
	movq %rsp, %rdi
	call _use
	leave
	ret
.subsections_via_symbols
