/* SPDX-License-Identifier: MIT
 *
 * Pointers to one thing from everywhere, for tests of `cprof inspect --who-points-at`. Says
 * where they are, "ready", and waits.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct item {
	struct item *next;
	long n;
	char text[40];
};
struct server {
	long id;
	struct {
		struct item *head, *tail;
	} queue;
	struct item *table[4];
} server;
static struct item **in_heap;
static __thread struct item *mine;
struct item *alone;
void *middle;

static void *keep(void *argument)
{
	struct item *kept = argument;
	struct item *list[3] = { NULL, argument, NULL };
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	mine = kept;
	pthread_setname_np(pthread_self(), "keeper");
	pthread_mutex_lock(&lock);
	puts("ready");
	fflush(stdout);
	pause();
	return list[kept->n] ? mine : NULL;
}

int main(void)
{
	struct item *target = calloc(1, sizeof(*target)), *other = calloc(1, sizeof(*other));
	struct {
		long number;
		struct item *inside;
	} local = { 1, target };
	/* Far more than is ever used. */
	struct item **pages = mmap(NULL, 1l << 36, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_t thread;
	char c;

	in_heap = malloc(10 * sizeof(*in_heap));
	if (!target || !other || !in_heap || pages == MAP_FAILED)
		return 1;
	server.queue.tail = target;
	server.table[2] = target;
	in_heap[3] = target;
	other->next = target;
	alone = other;
	middle = &target->text[4];
	pages[100000] = target;
	printf("target %p heap %p %p %p\n", (void *)target, (void *)&in_heap[3], (void *)other,
	       (void *)&pages[100000]);
	pthread_create(&thread, NULL, keep, target);
	if (read(0, &c, 1) < 0)
		return 1;
	return (int)local.number;
}
