.section .tdata,"awT"
.balign 8
own:
	.int 5
.text
.balign 16
.globl local
local:
	hint #34
	mrs x0, tpidr_el0
	add x0, x0, :tprel_hi12:own
	add x0, x0, :tprel_lo12_nc:own
	ldr w0, [x0]
	ret
.type local, @function
.size local, .-local
.text
.balign 16
.globl other
other:
	hint #34
	adrp x0, :gottprel:theirs
	ldr x0, [x0, :gottprel_lo12:theirs]
	mrs x16, tpidr_el0
	add x0, x0, x16
	ldr w0, [x0]
	ret
.type other, @function
.size other, .-other
.section .note.GNU-stack,"",@progbits
