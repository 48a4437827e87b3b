.text
.balign 16
.globl sum
sum:
	hint #34
	movz w2, #0
	b .Lbb0_1
.Lbb0_2:
	ldr w3, [x0]
	add w2, w2, w3
	add x0, x0, #4
	sub w1, w1, #1
.Lbb0_1:
	cbnz w1, .Lbb0_2
	mov w0, w2
	ret
.type sum, @function
.size sum, .-sum
.section .note.GNU-stack,"",@progbits
