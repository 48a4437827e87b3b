.text
.balign 4
.globl early
early:
.cfi_startproc
	mv a5, a0
	beqz a5, .Lbb0_1
	addi sp, sp, -32
	.cfi_def_cfa_offset 32
	sd ra, 0(sp)
	.cfi_offset ra, -32
	sd s0, 8(sp)
	.cfi_offset s0, -24
	sd s1, 16(sp)
	.cfi_offset s1, -16
	sd s2, 24(sp)
	.cfi_offset s2, -8
	mv s0, a5
	mv s1, a1
	mv a0, s0
	call g
	mv s2, a0
	mv a0, s2
	call g
	addw s2, s2, a0
	addw a0, s2, s0
	ld a1, 0(s1)
	call h
	beqz a0, .Lbb0_3
	li a0, 1
	call g
	.cfi_remember_state
	ld ra, 0(sp)
	.cfi_restore ra
	ld s0, 8(sp)
	.cfi_restore s0
	ld s1, 16(sp)
	.cfi_restore s1
	ld s2, 24(sp)
	.cfi_restore s2
	addi sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
	.cfi_restore_state
.Lbb0_1:
	.cfi_def_cfa sp, 0
	.cfi_restore ra
	.cfi_restore s0
	.cfi_restore s1
	.cfi_restore s2
	li a0, 7
	ret
.Lbb0_3:
	.cfi_def_cfa sp, 32
	.cfi_offset ra, -32
	.cfi_offset s0, -24
	.cfi_offset s1, -16
	.cfi_offset s2, -8
	mv a0, s2
	ld ra, 0(sp)
	.cfi_restore ra
	ld s0, 8(sp)
	.cfi_restore s0
	ld s1, 16(sp)
	.cfi_restore s1
	ld s2, 24(sp)
	.cfi_restore s2
	addi sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type early, @function
.size early, .-early
.text
.balign 4
.globl dyn
dyn:
.cfi_startproc
	addi sp, sp, -32
	.cfi_def_cfa_offset 32
	sd ra, 0(sp)
	.cfi_offset ra, -32
	sd s0, 8(sp)
	.cfi_offset s0, -24
	sd s1, 16(sp)
	.cfi_offset s1, -16
	mv s0, sp
	.cfi_def_cfa_register s0
	mv s1, a0
	addi a5, s1, 15
	andi a5, a5, -16
	sub sp, sp, a5
	mv a0, sp
	mv a1, s1
	call k
	add a0, a0, s1
	mv sp, s0
	ld ra, 0(sp)
	.cfi_restore ra
	ld s0, 8(sp)
	.cfi_def_cfa sp, 32
	.cfi_restore s0
	ld s1, 16(sp)
	.cfi_restore s1
	addi sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type dyn, @function
.size dyn, .-dyn
.section .note.GNU-stack,"",@progbits
