.text
.balign 16
.globl array
array:
	hint #34
	add x0, x0, x1, lsl #2
	ldr w0, [x0, #12]
	ret
.type array, @function
.size array, .-array
.data
.balign 8
table:
	.int 1,2,3,4
.text
.balign 16
.globl symbol
symbol:
	hint #34
	adrp x1, table
	add x1, x1, :lo12:table
	ldr w0, [x1, x0, lsl #2]
	ret
.type symbol, @function
.size symbol, .-symbol
.text
.balign 16
.globl slot
slot:
	hint #34
	str x30, [sp, #-32]!
	str w0, [sp, #16]
	add x0, sp, #8
	bl use
	ldr x30, [sp], #32
	ret
.type slot, @function
.size slot, .-slot
.section .note.GNU-stack,"",@progbits
