.section .tdata,"awT"
.balign 8
own:
	.int 5
.text
.balign 4
.globl local
local:
	lui a0, %tprel_hi(own)
	add a0, a0, tp, %tprel_add(own)
	lw a0, %tprel_lo(own)(a0)
	ret
.type local, @function
.size local, .-local
.text
.balign 4
.globl other
other:
	1: auipc a5, %tls_ie_pcrel_hi(theirs)
	ld a5, %pcrel_lo(1b)(a5)
	add a5, a5, tp
	lw a0, 0(a5)
	ret
.type other, @function
.size other, .-other
.section .note.GNU-stack,"",@progbits
