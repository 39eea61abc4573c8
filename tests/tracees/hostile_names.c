/* SPDX-License-Identifier: MIT
 *
 * Threads, a process and functions with names made to harm a terminal or a
 * page: escape sequences, newlines, semicolons, markup, bidi overrides, bad
 * UTF-8. Each thread computes or blocks until the end.
 */
#include <stdatomic.h>
#include <sys/prctl.h>

#include "tracee.h"

static const char *const names[] = {
	"\033[31mred",
	"\033]0;title\a",
	"new\nline",
	"semi;colon",
	"<script>alert",
	"\xe2\x80\xae"
	"olleh",
	"\xff\xfe bad",
	"quote\"\\'",
	"tab\tback\b",
	"\xc2\x9b"
	"31mC1",
	") 0 (x) 1 2",
	" ",
};

static atomic_bool stop;
static atomic_long begun;

static NOIPA void hostile_work(uint32_t *x) __asm__("\"hostile;\033[31m<b>work\"");

static void hostile_work(uint32_t *x)
{
	*x = tracee_mix(*x, 1000);
}

static void *run(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;
	uint32_t x = 1;

	TRY(prctl(PR_SET_NAME, names[i]));
	begun++;
	while (!stop)
		if (i % 3 == 0)
			hostile_work(&x);
		else
			usleep(1000);
	return NULL;
}

int main(int argc, char **argv)
{
	enum { COUNT = sizeof(names) / sizeof(names[0]) };
	pthread_t threads[COUNT];

	tracee_begin("hostile_names", argc, argv, (struct tracee_options){ .ms = 300 });
	prctl(PR_SET_NAME, "\033[2J;<i>main");
	for (size_t i = 0; i < COUNT; i++)
		threads[i] = tracee_thread((void *(*)(void *))run, (void *)i);
	while (begun < COUNT)
		sched_yield();
	tracee_wait();
	stop = true;
	for (size_t i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	return tracee_ok("%d names", (int)COUNT);
}
