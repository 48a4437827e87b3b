.data
.balign 8
.globl _a
_a:
	.int 1,2
	.byte 3
	.short 4
.data
.balign 8
_text:
	.ascii "a\tb"
	.byte 0
.zerofill __DATA,__bss,_zeros,100,6
.section .special,aw
.balign 8
.no_dead_strip _placed
_placed:
	.quad _a+8
.comm _shared,16,3
.section __DATA,__thread_vars,thread_local_variables
_local:
	.quad __tlv_bootstrap,0,_local$tlv$init
.section __DATA,__thread_data,thread_local_regular
.balign 8
_local$tlv$init:
	.quad 5
.data
.balign 8
_floats:
	.int 1069547520
	.quad 4612811918334230528
.subsections_via_symbols
