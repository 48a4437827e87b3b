.section ".text.used","ax"
.balign 4
.globl used
used:
	addi sp, sp, -16
	sd ra, 0(sp)
	call inner
	call "a b"
	ld ra, 0(sp)
	addi sp, sp, 16
	ret
.type used, @function
.size used, .-used
.section ".text.inner","ax"
.balign 4
inner:
	addiw a0, a0, 1
	ret
.type inner, @function
.size inner, .-inner
.section ".text.a b","ax"
.balign 4
"a b":
	1: auipc a5, %pcrel_hi(value)
	lw a5, %pcrel_lo(1b)(a5)
	addw a0, a0, a5
	ret
.type "a b", @function
.size "a b", .-"a b"
.section "special"
.balign 4
elsewhere:
	li a0, 5
	ret
.type elsewhere, @function
.size elsewhere, .-elsewhere
.section ".data.value","aw"
.balign 8
.globl value
value:
	.int 1
.section ".bss.zero","aw"
.balign 8
zero:
	.zero 16
.section ".tdata.own","awT"
.balign 8
own:
	.int 2
.section ".tbss.own_zero","awT"
.balign 8
own_zero:
	.zero 8
.comm shared,8,8
.section "mine"
.balign 8
named:
	.quad 3
.data
.balign 8
rel.ro:
	.int 4
.section ".data.quo\"ted","aw"
.balign 8
"quo\"ted":
	.int 5
.section .note.GNU-stack,"",@progbits
