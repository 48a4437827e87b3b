.text
.balign 4
.globl maximum
maximum:
	bge a1, a0, .Lbb0_1
	ret
.Lbb0_1:
	mv a0, a1
	ret
.type maximum, @function
.size maximum, .-maximum
.text
.balign 4
.globl lower
lower:
	flt.d a5, fa0, fa1
	beqz a5, .Lbb1_1
	ret
.Lbb1_1:
	fmv.d fa0, fa1
	ret
.type lower, @function
.size lower, .-lower
.section .note.GNU-stack,"",@progbits
