/* SPDX-License-Identifier: MIT
 *
 * idle THREADS [busy]: threads that sleep for ever, or compute once all are
 * there (with the lowest priority, so that the main thread gets that far).
 * Prints "ready" when all are there; ends when standard input does.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint go;

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *compute(void *arg)
{
	volatile unsigned n = 0;

	setpriority(PRIO_PROCESS, 0, 19);
	while (!go)
		syscall(SYS_futex, &go, FUTEX_WAIT_PRIVATE, 0, NULL);
	for (;;)
		n++;
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
		if (pthread_create(&thread, &attr, argc > 2 ? compute : sleep_on, NULL)) {
			printf("only %lu threads\n", i);
			return 1;
		}
	}
	go = 1;
	syscall(SYS_futex, &go, FUTEX_WAKE_PRIVATE, INT_MAX);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0);
}
