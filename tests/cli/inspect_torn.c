/* SPDX-License-Identifier: MIT
 *
 * Changes without a pause, for tests of `cprof inspect`: at each moment b is a, or one less.
 * Says "ready", and ends when its standard input does.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct pair {
	atomic_long a;
	char between[200];
	atomic_long b;
};
struct pair pair;
struct one {
	atomic_long n;
	long others[20];
} one = { .others = { 1, 2, 3 } };
static atomic_bool over;

static void *write_on(void *unused)
{
	long n;

	(void)unused;
	for (n = 0; !over; n++) {
		pair.a = n;
		pair.b = n;
		one.n = n;
	}
	return NULL;
}

int main(void)
{
	pthread_t writer;
	char c;

	pthread_create(&writer, NULL, write_on, NULL);
	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		return 1;
	over = true;
	pthread_join(writer, NULL);
	return 0;
}
