.text
.balign 16
.globl leaf
leaf:
	hint #34
	ret
.type leaf, @function
.size leaf, .-leaf
.text
.balign 16
.globl kept
kept:
	hint #34
	stp x30, x19, [sp, #-32]!
	str x20, [sp, #16]
	mov w19, w0
	mov w20, w1
	bl g
	add w0, w19, w20
	ldr x20, [sp, #16]
	ldp x30, x19, [sp], #32
	ret
.type kept, @function
.size kept, .-kept
.text
.balign 16
.globl dynamic
dynamic:
	hint #34
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	add x0, x0, #15
	and x0, x0, #0xfffffffffffffff0
	sub sp, sp, x0, uxtx
	mov x0, sp
	bl use
	mov sp, x29
	ldp x29, x30, [sp], #16
	ret
.type dynamic, @function
.size dynamic, .-dynamic
.section .note.GNU-stack,"",@progbits
