.text
.balign 4
.globl leaf
leaf:
.cfi_startproc
	addw a0, a0, a1
	ret
.cfi_endproc
.type leaf, @function
.size leaf, .-leaf
.text
.balign 4
.globl calls
calls:
.cfi_startproc
	addi sp, sp, -16
	.cfi_def_cfa_offset 16
	sd ra, 8(sp)
	.cfi_offset ra, -8
	sd s0, 0(sp)
	.cfi_offset s0, -16
	addi s0, sp, 16
	.cfi_def_cfa s0, 0
	li a0, 1
	call g
	li a0, 2
	call g
	ld ra, 8(sp)
	.cfi_restore ra
	ld s0, 0(sp)
	.cfi_def_cfa sp, 16
	.cfi_restore s0
	addi sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type calls, @function
.size calls, .-calls
.text
.balign 4
.globl saves
saves:
.cfi_startproc
	addi sp, sp, -48
	.cfi_def_cfa_offset 48
	sd ra, 40(sp)
	.cfi_offset ra, -8
	sd s0, 32(sp)
	.cfi_offset s0, -16
	sd s1, 24(sp)
	.cfi_offset s1, -24
	fsd fs0, 16(sp)
	.cfi_offset fs0, -32
	addi s0, sp, 48
	.cfi_def_cfa s0, 0
	mv s1, a0
	fmv.d fs0, fa0
	mv a0, s1
	mv a1, sp
	call h
	fcvt.w.d a5, fs0, rtz
	lw a4, 0(sp)
	addw a3, a0, s1
	addw a5, a3, a5
	addw a0, a5, a4
	ld ra, 40(sp)
	.cfi_restore ra
	ld s0, 32(sp)
	.cfi_def_cfa sp, 48
	.cfi_restore s0
	ld s1, 24(sp)
	.cfi_restore s1
	fld fs0, 16(sp)
	.cfi_restore fs0
	addi sp, sp, 48
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type saves, @function
.size saves, .-saves
.text
.balign 4
.globl late
late:
.cfi_startproc
	mv a4, a0
	li a5, 100
	bge a4, a5, .Lbb3_1
	li a0, 5
	ret
.Lbb3_1:
	addi sp, sp, -32
	.cfi_def_cfa_offset 32
	sd ra, 24(sp)
	.cfi_offset ra, -8
	sd s0, 16(sp)
	.cfi_offset s0, -16
	sd s1, 8(sp)
	.cfi_offset s1, -24
	addi s0, sp, 32
	.cfi_def_cfa s0, 0
	mv s1, a4
	mv a0, s1
	call g
	addw a0, a0, s1
	ld ra, 24(sp)
	.cfi_restore ra
	ld s0, 16(sp)
	.cfi_def_cfa sp, 32
	.cfi_restore s0
	ld s1, 8(sp)
	.cfi_restore s1
	addi sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type late, @function
.size late, .-late
.text
.balign 4
.globl allocates
allocates:
.cfi_startproc
	addi sp, sp, -32
	.cfi_def_cfa_offset 32
	sd ra, 24(sp)
	.cfi_offset ra, -8
	sd s0, 16(sp)
	.cfi_offset s0, -16
	sd s1, 8(sp)
	.cfi_offset s1, -24
	addi s0, sp, 32
	.cfi_def_cfa s0, 0
	mv s1, a0
	addi a5, a1, 15
	andi a5, a5, -16
	sub sp, sp, a5
	mv a1, sp
	sw s1, 0(a1)
	li a0, 1
	call h
	addw a0, a0, s1
	addi sp, s0, -32
	ld ra, 24(sp)
	.cfi_restore ra
	ld s0, 16(sp)
	.cfi_def_cfa sp, 32
	.cfi_restore s0
	ld s1, 8(sp)
	.cfi_restore s1
	addi sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type allocates, @function
.size allocates, .-allocates
.text
.balign 4
.globl large
large:
.cfi_startproc
	addi sp, sp, -32
	.cfi_def_cfa_offset 32
	sd ra, 24(sp)
	.cfi_offset ra, -8
	sd s0, 16(sp)
	.cfi_offset s0, -16
	sd s1, 8(sp)
	.cfi_offset s1, -24
	addi s0, sp, 32
	.cfi_def_cfa s0, 0
	lui t6, 1048571
	addiw t6, t6, 480
	add sp, sp, t6
	mv s1, a0
	mv a0, s1
	mv a1, sp
	call h
	lw a5, 0(sp)
	addw a5, a0, a5
	addw a0, a5, s1
	lui t6, 5
	addiw t6, t6, -480
	add sp, sp, t6
	ld ra, 24(sp)
	.cfi_restore ra
	ld s0, 16(sp)
	.cfi_def_cfa sp, 32
	.cfi_restore s0
	ld s1, 8(sp)
	.cfi_restore s1
	addi sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type large, @function
.size large, .-large
.text
.balign 4
.globl variadic
variadic:
.cfi_startproc
	addi sp, sp, -112
	.cfi_def_cfa_offset 112
	sd ra, 48(sp)
	.cfi_offset ra, -64
	sd s0, 40(sp)
	.cfi_offset s0, -72
	sd s1, 32(sp)
	.cfi_offset s1, -80
	addi s0, sp, 56
	.cfi_def_cfa s0, 56
	mv s1, a0
	sd a1, 56(sp)
	sd a2, 64(sp)
	sd a3, 72(sp)
	sd a4, 80(sp)
	sd a5, 88(sp)
	sd a6, 96(sp)
	sd a7, 104(sp)
	addi a5, sp, 56
	sd a5, 0(sp)
	mv a0, s1
	mv a1, sp
	call h
	addw a0, a0, s1
	ld ra, 48(sp)
	.cfi_restore ra
	ld s0, 40(sp)
	.cfi_def_cfa sp, 112
	.cfi_restore s0
	ld s1, 32(sp)
	.cfi_restore s1
	addi sp, sp, 112
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type variadic, @function
.size variadic, .-variadic
.section .note.GNU-stack,"",@progbits
