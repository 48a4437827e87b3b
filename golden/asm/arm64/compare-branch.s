.text
.balign 16
.globl less
less:
	hint #34
	str x30, [sp, #-16]!
	cmp x0, x1
	b.ge .Lbb0_1
	bl f
	ldr x30, [sp], #16
	ret
.Lbb0_1:
	bl g
	ldr x30, [sp], #16
	ret
.type less, @function
.size less, .-less
.text
.balign 16
.globl zero
zero:
	hint #34
	str x30, [sp, #-16]!
	cbz w0, .Lbb1_1
	bl f
	ldr x30, [sp], #16
	ret
.Lbb1_1:
	bl g
	ldr x30, [sp], #16
	ret
.type zero, @function
.size zero, .-zero
.text
.balign 16
.globl mask
mask:
	hint #34
	str x30, [sp, #-16]!
	tst w0, #0x0000000c
	b.eq .Lbb2_1
	bl f
	ldr x30, [sp], #16
	ret
.Lbb2_1:
	bl g
	ldr x30, [sp], #16
	ret
.type mask, @function
.size mask, .-mask
.section .note.GNU-stack,"",@progbits
