/* SPDX-License-Identifier: MIT
 *
 * What the modules profile: called() five times, then, with an argument, more
 * of it until that file is there.
 */
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int called(int n)
{
	__asm__ volatile("");
	return n + 1;
}

__attribute__((constructor)) static void constructor(void)
{
	puts("program: constructor");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int i, n = 0;

	for (i = 0; i < 5; i++)
		n = called(n);
	while (argc > 1 && access(argv[1], F_OK)) {
		n = called(n);
		usleep(1000);
	}
	puts("program: done");
	return 7;
}
