.text
.balign 16
.globl f
f:
	hint #34
	mov x1, x0
	cbz w1, .Lbb0_1
	stp x30, x19, [sp, #-32]!
	str x20, [sp, #16]
	mov x19, x1
	mov x0, x19
	bl g
	mov w20, w0
	mov x0, x19
	bl h
	add w0, w20, w0
	ldr x20, [sp, #16]
	ldp x30, x19, [sp], #32
	ret
.Lbb0_1:
	movz w0, #0
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
