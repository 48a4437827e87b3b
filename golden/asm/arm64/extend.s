.text
.balign 16
.globl byte
byte:
	hint #34
	ldrb w0, [x0]
	ret
.type byte, @function
.size byte, .-byte
.text
.balign 16
.globl word
word:
	hint #34
	sxtw x0, w0
	ret
.type word, @function
.size word, .-word
.text
.balign 16
.globl half
half:
	hint #34
	add w0, w0, w1
	sxth w0, w0
	ret
.type half, @function
.size half, .-half
.section .note.GNU-stack,"",@progbits
