.text
.balign 16
.globl f
f:
	hint #34
	stp x30, x19, [sp, #-16]!
	mov x19, x0
	sxtw x3, w1
	movz w0, #1
	movz w1, #2
	movz w2, #3
	movz w4, #5
	movz w5, #6
	movz w6, #7
	mov x7, x19
	bl g
	add x0, x0, x19
	ldp x30, x19, [sp], #16
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
