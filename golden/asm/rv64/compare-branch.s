.text
.balign 4
.globl less
less:
	addi sp, sp, -16
	sd ra, 0(sp)
	bge a0, a1, .Lbb0_1
	call f
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.Lbb0_1:
	call g
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.type less, @function
.size less, .-less
.text
.balign 4
.globl zero
zero:
	addi sp, sp, -16
	sd ra, 0(sp)
	beqz a0, .Lbb1_1
	call f
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.Lbb1_1:
	call g
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.type zero, @function
.size zero, .-zero
.text
.balign 4
.globl mask
mask:
	addi sp, sp, -16
	sd ra, 0(sp)
	andi a5, a0, 12
	beqz a5, .Lbb2_1
	call f
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.Lbb2_1:
	call g
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.type mask, @function
.size mask, .-mask
.section .note.GNU-stack,"",@progbits
