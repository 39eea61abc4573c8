/* SPDX-License-Identifier: MIT
 *
 * idle THREADS: threads that sleep for ever. Prints "ready" when all are
 * there; ends when standard input does.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, i;
	pthread_attr_t attr;
	pthread_t thread;
	char byte;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < count; i++) {
		if (pthread_create(&thread, &attr, sleep_on, NULL)) {
			printf("only %lu threads\n", i);
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0);
}
