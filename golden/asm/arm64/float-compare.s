.text
.balign 16
.globl equal
equal:
	hint #34
	fcmp d0, d1
	cset w0, eq
	ret
.type equal, @function
.size equal, .-equal
.text
.balign 16
.globl less
less:
	hint #34
	fcmp s0, s1
	cset w0, mi
	ret
.type less, @function
.size less, .-less
.text
.balign 16
.globl branch
branch:
	hint #34
	str x30, [sp, #-16]!
	fcmp d0, d1
	b.eq .Lbb2_1
	bl f
	ldr x30, [sp], #16
	ret
.Lbb2_1:
	bl g
	ldr x30, [sp], #16
	ret
.type branch, @function
.size branch, .-branch
.section .note.GNU-stack,"",@progbits
