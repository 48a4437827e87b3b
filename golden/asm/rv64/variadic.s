.data
.balign 8
format:
	.ascii "%d %g\n"
	.byte 0
.text
.balign 4
.globl print
print:
	addi sp, sp, -16
	sd ra, 0(sp)
	mv a1, a0
	fmv.x.d a2, fa0
	1: auipc a0, %pcrel_hi(format)
	addi a0, a0, %pcrel_lo(1b)
	call printf
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.type print, @function
.size print, .-print
.text
.balign 4
.globl first
first:
	addi sp, sp, -96
	sd a1, 40(sp)
	sd a2, 48(sp)
	sd a3, 56(sp)
	sd a4, 64(sp)
	sd a5, 72(sp)
	sd a6, 80(sp)
	sd a7, 88(sp)
	addi a5, sp, 40
	sd a5, 0(sp)
	ld a5, 0(sp)
	addi a4, a5, 8
	sd a4, 0(sp)
	lw a0, 0(a5)
	addi sp, sp, 96
	ret
.type first, @function
.size first, .-first
.section .note.GNU-stack,"",@progbits
