.text
.balign 16
.globl signed
signed:
	hint #34
	scvtf d0, x0
	ret
.type signed, @function
.size signed, .-signed
.text
.balign 16
.globl unsigned
unsigned:
	hint #34
	ucvtf d0, w0
	ret
.type unsigned, @function
.size unsigned, .-unsigned
.text
.balign 16
.globl truncate
truncate:
	hint #34
	fcvtzu x0, d0
	ret
.type truncate, @function
.size truncate, .-truncate
.text
.balign 16
.globl wide
wide:
	hint #34
	ucvtf d0, x0
	ret
.type wide, @function
.size wide, .-wide
.section .note.GNU-stack,"",@progbits
