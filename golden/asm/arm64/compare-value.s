.text
.balign 16
.globl below
below:
	hint #34
	cmp w0, w1
	cset w0, lo
	ret
.type below, @function
.size below, .-below
.text
.balign 16
.globl equal
equal:
	hint #34
	cmp x0, #1000
	cset w0, eq
	ret
.type equal, @function
.size equal, .-equal
.section .note.GNU-stack,"",@progbits
