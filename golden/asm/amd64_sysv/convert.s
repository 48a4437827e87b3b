.text
.balign 16
.globl signed
signed:
	endbr64
	cvtsi2sdq %rdi, %xmm0
	ret
.type signed, @function
.size signed, .-signed
.text
.balign 16
.globl unsigned
unsigned:
	endbr64
	movl %edi, %eax
	cvtsi2sdq %rax, %xmm0
	ret
.type unsigned, @function
.size unsigned, .-unsigned
.text
.balign 16
.globl truncate
truncate:
	endbr64
	cvttsd2si %xmm0, %rax
	addsd .Lfp8_c3e0000000000000(%rip), %xmm0
	cvttsd2si %xmm0, %rcx
	movq %rax, %rdx
	sarq $63, %rdx
	andq %rcx, %rdx
	orq %rax, %rdx
	movq %rdx, %rax
	ret
.type truncate, @function
.size truncate, .-truncate
.text
.balign 16
.globl wide
wide:
	endbr64
	movq %rdi, %rcx
	shrq $63, %rcx
	movq %rdi, %rax
	shrq %cl, %rax
	andq %rdi, %rcx
	orq %rcx, %rax
	cvtsi2sdq %rax, %xmm0
	sarq $63, %rdi
	movq %rdi, %xmm1
	andps %xmm0, %xmm1
	addsd %xmm1, %xmm0
	ret
.type wide, @function
.size wide, .-wide
.section .rodata
.balign 8
.Lfp8_c3e0000000000000:
	.quad -4332462841530417152
.section .note.GNU-stack,"",@progbits
