.text
.balign 16
.globl early
early:
.cfi_startproc
	hint #34
	mov w2, w0
	cbz w2, .Lbb0_1
	stp x30, x19, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -32
	.cfi_offset 19, -24
	stp x20, x21, [sp, #16]
	.cfi_offset 20, -16
	.cfi_offset 21, -8
	mov x19, x2
	mov x20, x1
	mov w0, w19
	bl g
	mov w21, w0
	mov w0, w21
	bl g
	add w21, w21, w0
	add w0, w21, w19
	ldr x1, [x20]
	bl h
	cbz w0, .Lbb0_3
	movz w0, #1
	bl g
	.cfi_remember_state
	ldp x20, x21, [sp, #16]
	.cfi_restore 20
	.cfi_restore 21
	ldp x30, x19, [sp], #32
	.cfi_restore 30
	.cfi_restore 19
	.cfi_def_cfa_offset 0
	ret
	.cfi_restore_state
.Lbb0_1:
	.cfi_def_cfa 31, 0
	.cfi_restore 30
	.cfi_restore 19
	.cfi_restore 20
	.cfi_restore 21
	movz w0, #7
	ret
.Lbb0_3:
	.cfi_def_cfa 31, 32
	.cfi_offset 30, -32
	.cfi_offset 19, -24
	.cfi_offset 20, -16
	.cfi_offset 21, -8
	mov w0, w21
	ldp x20, x21, [sp, #16]
	.cfi_restore 20
	.cfi_restore 21
	ldp x30, x19, [sp], #32
	.cfi_restore 30
	.cfi_restore 19
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type early, @function
.size early, .-early
.text
.balign 16
.globl dyn
dyn:
.cfi_startproc
	hint #34
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	.cfi_def_cfa_register 29
	str x19, [sp, #16]
	.cfi_offset 19, -16
	mov x19, x0
	add x0, x19, #15
	and x0, x0, #0xfffffffffffffff0
	sub sp, sp, x0, uxtx
	mov x0, sp
	mov x1, x19
	bl k
	add x0, x0, x19
	mov sp, x29
	ldr x19, [sp, #16]
	.cfi_restore 19
	ldp x29, x30, [sp], #32
	.cfi_def_cfa 31, 32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.type dyn, @function
.size dyn, .-dyn
.section .note.GNU-stack,"",@progbits
