.text
.balign 16
.globl wide
wide:
	endbr64
	movabsq $81985529216486895, %rax
	addq %rdi, %rax
	ret
.type wide, @function
.size wide, .-wide
.text
.balign 16
.globl narrow
narrow:
	endbr64
	movq %rdi, %rax
	andl $4095, %eax
	ret
.type narrow, @function
.size narrow, .-narrow
.text
.balign 16
.globl store
store:
	endbr64
	movq $-1, (%rdi)
	movl $7, 8(%rdi)
	movb $-1, 12(%rdi)
	ret
.type store, @function
.size store, .-store
.section .note.GNU-stack,"",@progbits
