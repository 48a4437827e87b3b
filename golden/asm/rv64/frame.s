.text
.balign 4
.globl leaf
leaf:
	ret
.type leaf, @function
.size leaf, .-leaf
.text
.balign 4
.globl kept
kept:
	addi sp, sp, -32
	sd ra, 0(sp)
	sd s0, 8(sp)
	sd s1, 16(sp)
	mv s0, a0
	mv s1, a1
	call g
	addw a0, s0, s1
	ld ra, 0(sp)
	ld s0, 8(sp)
	ld s1, 16(sp)
	addi sp, sp, 32
	ret
.type kept, @function
.size kept, .-kept
.text
.balign 4
.globl dynamic
dynamic:
	addi sp, sp, -16
	sd ra, 0(sp)
	sd s0, 8(sp)
	mv s0, sp
	addi a5, a0, 15
	andi a5, a5, -16
	sub sp, sp, a5
	mv a0, sp
	call use
	mv sp, s0
	ld ra, 0(sp)
	ld s0, 8(sp)
	addi sp, sp, 16
	ret
.type dynamic, @function
.size dynamic, .-dynamic
.section .note.GNU-stack,"",@progbits
