/* SPDX-License-Identifier: MIT
 *
 * Calls the functions of odd_entry_ISA.S in a loop, from two threads, and
 * checks every result and that the callee-saved registers survive.
 */
#include "tracee.h"

#if defined(__x86_64__)

#define PLAIN(f) f(01) f(02) f(05) f(06) f(08) f(09) f(10) f(13) f(15) f(16) f(17) f(18)
#define DECLARE(n) int odd_##n(void);
PLAIN(DECLARE)
int odd_03(char *to, int, long, long count);
int odd_04(int *counter);
int odd_07(int rounds);
int odd_12(void);
int odd_14(char *stack);
int odd_19(void);
int odd_20(void);

static int call_11(void)
{
	long r = SYS_getpid;

	__asm__ volatile("call odd_11" : "+a"(r) : : "rcx", "r11", "memory");
	return (int)r;
}

static void *calls(void *arg)
{
	static __thread char stack[4096] __attribute__((aligned(16)));
	char text[300];
	int counter = 0;

	(void)arg;
	for (int i = 0; i < 200; i++) {
#define CALL(n) \
	{ \
		int want_ = 1##n - 100; \
		CHECK(odd_##n() == want_, "odd_" #n " did not return its number"); \
	}
		PLAIN(CALL)
		memset(text, 1, sizeof(text));
		CHECK(odd_03(text, 0, 0, 256) == 3, "odd_03");
		CHECK((text[0] & 0xff) == (text[255] & 0xff) && text[256] == 1, "odd_03's bytes");
		CHECK(odd_04(&counter) == 4 && counter == i + 1, "odd_04");
		CHECK(odd_07(100) == 7, "odd_07");
		CHECK(call_11() == getpid(), "odd_11");
		odd_12();
		CHECK(odd_14(stack + sizeof(stack)) == 14, "odd_14");
		CHECK(odd_19() == 20, "odd_19, which ends in odd_20");
		CHECK(odd_20() == 20, "odd_20");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	tracee_begin("odd_entry", argc, argv, (struct tracee_options){ .rounds = 50 });
	while (tracee_more()) {
		pthread_t other = tracee_thread(calls, NULL);

		calls(NULL);
		pthread_join(other, NULL);
	}
	return tracee_ok("every function returned its number");
}

#else

int main(int argc, char **argv)
{
	tracee_begin("odd_entry", argc, argv, (struct tracee_options){ 0 });
	tracee_skip("no such functions for this machine");
}

#endif
