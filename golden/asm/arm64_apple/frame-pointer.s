.text
.balign 16
.globl _leaf
_leaf:
.cfi_startproc
	hint #34
	add w0, w0, w1
	ret
.cfi_endproc
.text
.balign 16
.globl _calls
_calls:
.cfi_startproc
	hint #34
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov x29, sp
	movz w0, #1
	bl _g
	movz w0, #2
	bl _g
	ldp x29, x30, [sp], #16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.text
.balign 16
.globl _saves
_saves:
.cfi_startproc
	hint #34
	stp x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 29, -48
	.cfi_offset 30, -40
	mov x29, sp
	str x19, [sp, #16]
	.cfi_offset 19, -32
	str d8, [sp, #24]
	.cfi_offset 72, -24
	mov w19, w0
	fmov d8, d0
	mov w0, w19
	add x1, sp, #32
	bl _h
	fcvtzs w1, d8
	ldr w2, [sp, #32]
	add w0, w0, w19
	add w0, w0, w1
	add w0, w0, w2
	ldr d8, [sp, #24]
	.cfi_restore 72
	ldr x19, [sp, #16]
	.cfi_restore 19
	ldp x29, x30, [sp], #48
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.text
.balign 16
.globl _late
_late:
.cfi_startproc
	hint #34
	mov w1, w0
	cmp w1, #100
	b.ge Lbb3_1
	movz w0, #5
	ret
Lbb3_1:
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	str x19, [sp, #16]
	.cfi_offset 19, -16
	mov x19, x1
	mov w0, w19
	bl _g
	add w0, w0, w19
	ldr x19, [sp, #16]
	.cfi_restore 19
	ldp x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.text
.balign 16
.globl _allocates
_allocates:
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
	mov w19, w0
	add x0, x1, #15
	and x0, x0, #0xfffffffffffffff0
	sub sp, sp, x0, uxtx
	mov x1, sp
	str w19, [x1]
	movz w0, #1
	bl _h
	add w0, w0, w19
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
.text
.balign 16
.globl _large
_large:
.cfi_startproc
	hint #34
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	str x19, [sp, #16]
	.cfi_offset 19, -16
	sub sp, sp, #4, lsl #12
	sub sp, sp, #3616
	.cfi_def_cfa_offset 20032
	mov w19, w0
	mov w0, w19
	mov x1, sp
	bl _h
	ldr w1, [sp]
	add w0, w0, w1
	add w0, w0, w19
	add sp, sp, #4, lsl #12
	add sp, sp, #3616
	.cfi_def_cfa_offset 32
	ldr x19, [sp, #16]
	.cfi_restore 19
	ldp x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.text
.balign 16
.globl _variadic
_variadic:
.cfi_startproc
	hint #34
	stp x29, x30, [sp, #-64]!
	.cfi_def_cfa_offset 64
	.cfi_offset 29, -64
	.cfi_offset 30, -56
	mov x29, sp
	str x19, [sp, #16]
	.cfi_offset 19, -48
	mov w19, w0
	add x0, sp, #64
	str x0, [sp, #24]
	mov w0, w19
	add x1, sp, #24
	bl _h
	add w0, w0, w19
	ldr x19, [sp, #16]
	.cfi_restore 19
	ldp x29, x30, [sp], #64
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
.cfi_endproc
.subsections_via_symbols
