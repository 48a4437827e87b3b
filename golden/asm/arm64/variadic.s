.data
.balign 8
format:
	.ascii "%d %g\n"
	.byte 0
.text
.balign 16
.globl print
print:
	hint #34
	str x30, [sp, #-16]!
	mov w1, w0
	adrp x0, format
	add x0, x0, :lo12:format
	bl printf
	ldr x30, [sp], #16
	ret
.type print, @function
.size print, .-print
.text
.balign 16
.globl first
first:
	hint #34
	sub sp, sp, #224
	stp q0, q1, [sp, #32]
	stp q2, q3, [sp, #64]
	stp q4, q5, [sp, #96]
	stp q6, q7, [sp, #128]
	stp x1, x2, [sp, #160]
	stp x3, x4, [sp, #176]
	stp x5, x6, [sp, #192]
	str x7, [sp, #208]
	add x0, sp, #224
	str x0, [sp]
	add x0, sp, #216
	str x0, [sp, #8]
	add x0, sp, #160
	str x0, [sp, #16]
	movn w0, #55
	str w0, [sp, #24]
	movn w0, #127
	str w0, [sp, #28]
	ldr w0, [sp, #24]
	tbz w0, #31, .Lbb1_1
	ldr x1, [sp, #8]
	add x1, x1, w0, sxtw
	add w0, w0, #8
	str w0, [sp, #24]
	b .Lbb1_3
.Lbb1_1:
	ldr x1, [sp]
	add x0, x1, #8
	str x0, [sp]
.Lbb1_3:
	ldr w0, [x1]
	add sp, sp, #224
	ret
.type first, @function
.size first, .-first
.section .note.GNU-stack,"",@progbits
