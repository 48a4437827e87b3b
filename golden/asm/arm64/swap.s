.text
.balign 16
.globl fibonacci
fibonacci:
	hint #34
	movz w1, #0
	movz w2, #1
	b .Lbb0_1
.Lbb0_2:
	add x1, x1, x2
	sub w0, w0, #1
	mov x3, x1
	mov x1, x2
	mov x2, x3
.Lbb0_1:
	cbnz w0, .Lbb0_2
	mov x0, x1
	ret
.type fibonacci, @function
.size fibonacci, .-fibonacci
.text
.balign 16
.globl swap
swap:
	hint #34
	b .Lbb1_1
.Lbb1_2:
	sub w2, w2, #1
	mov x3, x0
	mov x0, x1
	mov x1, x3
.Lbb1_1:
	cbnz w2, .Lbb1_2
	sub x0, x0, x1
	ret
.type swap, @function
.size swap, .-swap
.section .note.GNU-stack,"",@progbits
