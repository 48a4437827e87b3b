.text
.balign 16
.globl maximum
maximum:
	hint #34
	cmp w0, w1
	csel w0, w0, w1, gt
	ret
.type maximum, @function
.size maximum, .-maximum
.text
.balign 16
.globl lower
lower:
	hint #34
	fcmp d0, d1
	b.pl .Lbb1_1
	ret
.Lbb1_1:
	fmov d0, d1
	ret
.type lower, @function
.size lower, .-lower
.section .note.GNU-stack,"",@progbits
