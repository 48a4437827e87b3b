.data
.balign 8
.globl a
a:
	.int 1,2
	.byte 3
	.short 4
.data
.balign 8
text:
	.ascii "a\tb"
	.byte 0
.bss
.balign 64
zeros:
	.zero 100
.section ".special","aw"
.balign 8
placed:
	.quad a+8
.comm shared,16,3
.section .tls$,"dw"
.balign 8
local:
	.quad 5
.data
.balign 8
floats:
	.int 1069547520
	.quad 4612811918334230528
