.text
.balign 16
.globl _used
_used:
	hint #34
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	bl _inner
	bl "a b"
	ldp x29, x30, [sp], #16
	ret
.text
.balign 16
_inner:
	add w0, w0, #1
	ret
.text
.balign 16
"a b":
	adrp x1, _value@PAGE
	ldr w1, [x1, _value@PAGEOFF]
	add w0, w0, w1
	ret
.section __TEXT,special,regular,pure_instructions
.balign 16
.no_dead_strip _elsewhere
_elsewhere:
	movz w0, #5
	ret
.data
.balign 8
.globl _value
_value:
	.int 1
.zerofill __DATA,__bss,_zero,16,3
.section __DATA,__thread_vars,thread_local_variables
_own:
	.quad __tlv_bootstrap,0,_own$tlv$init
.section __DATA,__thread_data,thread_local_regular
.balign 8
_own$tlv$init:
	.int 2
.section __DATA,__thread_vars,thread_local_variables
_own_zero:
	.quad __tlv_bootstrap,0,_own_zero$tlv$init
.tbss _own_zero$tlv$init,8,3
.comm _shared,8,3
.section __DATA,mine
.balign 8
.no_dead_strip _named
_named:
	.quad 3
.data
.balign 8
_rel.ro:
	.int 4
.data
.balign 8
"quo\"ted":
	.int 5
.subsections_via_symbols
