.text
.balign 16
.globl swap
swap:
	hint #34
	sub sp, sp, #16
	stp x0, x1, [sp]
	ldp x0, x1, [sp]
	add sp, sp, #16
	ret
.type swap, @function
.size swap, .-swap
.text
.balign 16
.globl sum
sum:
	hint #34
	sub sp, sp, #16
	str x0, [sp]
	str w1, [sp, #8]
	ldr w0, [sp]
	ldr w1, [sp, #8]
	add w0, w0, w1
	add sp, sp, #16
	ret
.type sum, @function
.size sum, .-sum
.text
.balign 16
.globl pass
pass:
	hint #34
	stp x30, x19, [sp, #-80]!
	mov x19, x8
	ldr q0, [x0]
	ldr d1, [x0, #16]
	str q0, [sp, #48]
	str d1, [sp, #64]
	add x0, sp, #48
	add x8, sp, #16
	bl g
	ldr q0, [sp, #16]
	ldr d1, [sp, #32]
	str q0, [x19]
	str d1, [x19, #16]
	ldp x30, x19, [sp], #80
	ret
.type pass, @function
.size pass, .-pass
.section .note.GNU-stack,"",@progbits
