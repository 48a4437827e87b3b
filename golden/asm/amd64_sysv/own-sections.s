.section ".text.used","ax"
.balign 16
.globl used
used:
	endbr64
	pushq %rax
	call inner
	movl %eax, %edi
	call "a b"
	popq %rcx
	ret
.type used, @function
.size used, .-used
.section ".text.inner","ax"
.balign 16
inner:
	leal 1(%rdi), %eax
	ret
.type inner, @function
.size inner, .-inner
.section ".text.a b","ax"
.balign 16
"a b":
	movl %edi, %eax
	addl value(%rip), %eax
	ret
.type "a b", @function
.size "a b", .-"a b"
.section "special"
.balign 16
elsewhere:
	movl $5, %eax
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
