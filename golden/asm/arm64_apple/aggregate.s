.text
.balign 16
.globl _swap
_swap:
	hint #34
	sub sp, sp, #16
	stp x0, x1, [sp]
	ldp x0, x1, [sp]
	add sp, sp, #16
	ret
.text
.balign 16
.globl _sum
_sum:
	hint #34
	sub sp, sp, #16
	str x0, [sp]
	str w1, [sp, #8]
	ldr w0, [sp]
	ldr w1, [sp, #8]
	add w0, w0, w1
	add sp, sp, #16
	ret
.text
.balign 16
.globl _pass
_pass:
	hint #34
	stp x29, x30, [sp, #-80]!
	mov x29, sp
	str x19, [sp, #16]
	mov x19, x8
	ldr q0, [x0]
	ldr d1, [x0, #16]
	str q0, [sp, #48]
	str d1, [sp, #64]
	add x0, sp, #48
	add x8, sp, #24
	bl _g
	ldr q0, [sp, #24]
	ldr d1, [sp, #40]
	str q0, [x19]
	str d1, [x19, #16]
	ldr x19, [sp, #16]
	ldp x29, x30, [sp], #80
	ret
.subsections_via_symbols
