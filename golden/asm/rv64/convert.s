.text
.balign 4
.globl signed
signed:
	fcvt.d.l fa0, a0
	ret
.type signed, @function
.size signed, .-signed
.text
.balign 4
.globl unsigned
unsigned:
	fcvt.d.wu fa0, a0
	ret
.type unsigned, @function
.size unsigned, .-unsigned
.text
.balign 4
.globl truncate
truncate:
	fcvt.lu.d a0, fa0, rtz
	ret
.type truncate, @function
.size truncate, .-truncate
.text
.balign 4
.globl wide
wide:
	fcvt.d.lu fa0, a0
	ret
.type wide, @function
.size wide, .-wide
.section .note.GNU-stack,"",@progbits
