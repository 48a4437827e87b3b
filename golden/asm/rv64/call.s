.text
.balign 4
.globl f
f:
	addi sp, sp, -16
	sd ra, 0(sp)
	sd s0, 8(sp)
	mv s0, a0
	mv a3, a1
	li a0, 1
	li a1, 2
	li a2, 3
	li a4, 5
	li a5, 6
	li a6, 7
	mv a7, s0
	call g
	add a0, a0, s0
	ld ra, 0(sp)
	ld s0, 8(sp)
	addi sp, sp, 16
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
