.text
.balign 4
.globl fibonacci
fibonacci:
	li a4, 1
	li a5, 0
	j .Lbb0_1
.Lbb0_2:
	add a5, a5, a4
	addiw a0, a0, -1
	mv t0, a4
	mv a4, a5
	mv a5, t0
.Lbb0_1:
	bnez a0, .Lbb0_2
	mv a0, a5
	ret
.type fibonacci, @function
.size fibonacci, .-fibonacci
.text
.balign 4
.globl swap
swap:
	j .Lbb1_1
.Lbb1_2:
	addiw a2, a2, -1
	mv t0, a0
	mv a0, a1
	mv a1, t0
.Lbb1_1:
	bnez a2, .Lbb1_2
	sub a0, a0, a1
	ret
.type swap, @function
.size swap, .-swap
.section .note.GNU-stack,"",@progbits
