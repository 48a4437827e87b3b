.section .debug_line,"",@progbits
.Ldebug_line:
.file 1 "first.c"
.text
.balign 16
.globl f
f:
	.loc 1 3
	endbr64
	pushq %rax
	.loc 1 3
	incl %edi
	.loc 1 4 7
	call g
	.loc 1 5
	popq %rcx
	ret
.Lfe0:
.type f, @function
.size f, .-f
.section .debug_abbrev,"",@progbits
.Ldebug_abbrev:
	.byte 1,17,1
	.byte 37,8,19,11,3,8
	.byte 17,1,85,23
	.byte 16,23
	.byte 0,0
	.byte 2,46,0
	.byte 3,8,17,1,18,7
	.byte 63,12,0,0,0
.section .debug_info,"",@progbits
	.int .Ldebug_info_end-.Ldebug_info_start
.Ldebug_info_start:
	.short 4
	.int .Ldebug_abbrev
	.byte 8
	.byte 1
	.asciz "backend 0.1.0"
	.byte 12
	.asciz "first.c"
	.quad 0
	.int .Ldebug_ranges
	.int .Ldebug_line
	.byte 2
	.asciz "f"
	.quad f
	.quad .Lfe0-f
	.byte 1
	.byte 0
.Ldebug_info_end:
.section .debug_ranges,"",@progbits
.Ldebug_ranges:
	.quad f
	.quad .Lfe0
	.quad 0,0
.section .note.GNU-stack,"",@progbits
