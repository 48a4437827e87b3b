.text
.balign 4
.globl swap
swap:
	addi sp, sp, -16
	sd a0, 0(sp)
	fsd fa0, 8(sp)
	ld a0, 0(sp)
	fld fa0, 8(sp)
	addi sp, sp, 16
	ret
.type swap, @function
.size swap, .-swap
.text
.balign 4
.globl sum
sum:
	addi sp, sp, -16
	sd a0, 0(sp)
	sw a1, 8(sp)
	lw a5, 0(sp)
	lw a4, 8(sp)
	addw a0, a5, a4
	addi sp, sp, 16
	ret
.type sum, @function
.size sum, .-sum
.text
.balign 4
.globl pass
pass:
	addi sp, sp, -80
	sd ra, 0(sp)
	sd s0, 8(sp)
	mv s0, a0
	ld a5, 0(a1)
	ld a4, 8(a1)
	ld a3, 16(a1)
	sd a5, 48(sp)
	sd a4, 56(sp)
	sd a3, 64(sp)
	addi a0, sp, 16
	addi a1, sp, 48
	call g
	ld a5, 16(sp)
	ld a4, 24(sp)
	ld a3, 32(sp)
	sd a5, 0(s0)
	sd a4, 8(s0)
	sd a3, 16(s0)
	ld ra, 0(sp)
	ld s0, 8(sp)
	addi sp, sp, 80
	ret
.type pass, @function
.size pass, .-pass
.section .note.GNU-stack,"",@progbits
