.section __DATA,__thread_vars,thread_local_variables
_own:
	.quad __tlv_bootstrap,0,_own$tlv$init
.section __DATA,__thread_data,thread_local_regular
.balign 8
_own$tlv$init:
	.int 5
.text
.balign 16
.globl _local
_local:
	hint #34
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	adrp x0, _own@TLVPPAGE
	ldr x0, [x0, _own@TLVPPAGEOFF]
	ldr x16, [x0]
	blr x16
	ldr w0, [x0]
	ldp x29, x30, [sp], #16
	ret
.text
.balign 16
.globl _other
_other:
	hint #34
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	adrp x0, _theirs@TLVPPAGE
	ldr x0, [x0, _theirs@TLVPPAGEOFF]
	ldr x16, [x0]
	blr x16
	ldr w0, [x0]
	ldp x29, x30, [sp], #16
	ret
.subsections_via_symbols
