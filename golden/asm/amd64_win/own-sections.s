.section ".text$used","xr"
.balign 16
.globl used
.def used; .scl 2; .type 32; .endef
used:
	subq $40, %rsp
	call inner
	movl %eax, %ecx
	call "a b"
	addq $40, %rsp
	ret
.section ".text$inner","xr"
.balign 16
.def inner; .scl 3; .type 32; .endef
inner:
	leal 1(%rcx), %eax
	ret
.section ".text$a b","xr"
.balign 16
.def "a b"; .scl 3; .type 32; .endef
"a b":
	movl %ecx, %eax
	addl value(%rip), %eax
	ret
.section "special","xr"
.balign 16
.def elsewhere; .scl 3; .type 32; .endef
elsewhere:
	movl $5, %eax
	ret
.section ".data$value","dw"
.balign 8
.globl value
value:
	.int 1
.section ".bss$zero","bw"
.balign 8
zero:
	.zero 16
.section .tls$,"dw"
.balign 8
own:
	.int 2
.section .tls$,"dw"
.balign 8
own_zero:
	.zero 8
.comm shared,8,3
.section "mine"
.balign 8
named:
	.quad 3
.data
.balign 8
rel.ro:
	.int 4
.section ".data$quo\"ted","dw"
.balign 8
"quo\"ted":
	.int 5
