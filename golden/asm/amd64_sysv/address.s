.text
.balign 16
.globl array
array:
	endbr64
	movl 12(%rdi,%rsi,4), %eax
	ret
.type array, @function
.size array, .-array
.data
.balign 8
table:
	.int 1,2,3,4
.text
.balign 16
.globl symbol
symbol:
	endbr64
	leaq table(%rip), %rax
	movl (%rax,%rdi,4), %eax
	ret
.type symbol, @function
.size symbol, .-symbol
.text
.balign 16
.globl slot
slot:
	endbr64
	subq $24, %rsp
	movl %edi, 8(%rsp)
	movq %rsp, %rdi
	call use
	addq $24, %rsp
	ret
.type slot, @function
.size slot, .-slot
.section .note.GNU-stack,"",@progbits
