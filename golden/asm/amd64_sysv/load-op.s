.text
.balign 16
.globl add
add:
	endbr64
	movl %edi, %eax
	addl (%rsi), %eax
	ret
.type add, @function
.size add, .-add
.text
.balign 16
.globl count
count:
	endbr64
	addl $1, (%rdi)
	ret
.type count, @function
.size count, .-count
.text
.balign 16
.globl scale
scale:
	endbr64
	mulsd (%rdi), %xmm0
	ret
.type scale, @function
.size scale, .-scale
.section .note.GNU-stack,"",@progbits
