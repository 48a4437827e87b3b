/* Follows the frame pointers from a call in walk.ssa outwards. */
#include <stdint.h>
#include <stdio.h>

int64_t one(int64_t);
extern char two[], three[], four[], five[], six[], seven[], eight[], end[];

/* Gives the frame pointer and the return address of its caller to `check`. */
#if defined _WIN32
__asm__(".globl walk\nwalk:\n\tmovq %rbp, %rcx\n\tmovq (%rsp), %rdx\n\tjmp check\n");
#elif defined __x86_64__
__asm__(".globl walk\nwalk:\n\tmovq %rbp, %rdi\n\tmovq (%rsp), %rsi\n\tjmp check\n");
#elif defined __aarch64__
__asm__(".globl walk\nwalk:\n\tmov x0, x29\n\tmov x1, x30\n\tb check\n");
#else
__asm__(".globl walk\nwalk:\n\tmv a0, s0\n\tmv a1, ra\n\ttail check\n");
#endif

/* Where a frame pointer points to, from the caller's frame pointer and the return address. */
#ifdef __riscv
enum { LINK = -2, RETURN = -1 };
#else
enum { LINK = 0, RETURN = 1 };
#endif

static int failures;
static void *outermost;

int64_t check(char **frame, char *address) {
	char *starts[] = {end, eight, seven, six, five, four, three, two, (char *)one};
	for (int n = 1; n < 9; n++) {
		if (address < starts[n] || address >= starts[n - 1]) {
			printf("frame %d: %p\n", n, address);
			failures++;
			return 0;
		}
		address = frame[RETURN];
		frame = (char **)frame[LINK];
	}
	/* In Windows' convention a frame pointer need not lead anywhere. */
#ifndef _WIN32
	if (frame != outermost) {
		puts("the last frame pointer is not that of C");
		failures++;
	}
#endif
	return 1000;
}

__attribute__((noinline, noclone)) static int64_t start(int64_t x) {
	outermost = __builtin_frame_address(0);
	return one(x) + 1;
}

int main(void) {
	int64_t x = 7;
	int64_t wanted = 1000 + 3 + x + 56 + 236 * x + x + 9 + x + x + x + 1;
	int64_t found = start(x);
	if (found != wanted) {
		printf("%d, not %d\n", (int)found, (int)wanted);
		failures++;
	}
	if (!failures)
		puts("ok");
	return failures != 0;
}
