.text
.balign 16
.globl f
f:
	hint #34
	str x30, [sp, #-16]!
	adrp x0, :got:number
	ldr x0, [x0, :got_lo12:number]
	ldr w0, [x0]
	bl g
	ldr x30, [sp], #16
	ret
.type f, @function
.size f, .-f
.section .note.GNU-stack,"",@progbits
