/* SPDX-License-Identifier: MIT
 *
 * Page faults and context switches that are known beforehand: touch_many() touches 4,000
 * new pages, touch_few() 1,000, once a round and on each of --threads=N; rest() sleeps
 * --size=N times. Says how many faults getrusage() counted.
 */
#include "tracee.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define MANY 4000
#define FEW 1000
#define PAGE 4096L

static char *new_pages(long count)
{
	char *p = mmap(NULL, (size_t)(count * PAGE), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	TRY(madvise(p, (size_t)(count * PAGE), MADV_NOHUGEPAGE));
	return p;
}

NOIPA static void touch_many(volatile char *p)
{
	for (long i = 0; i < MANY; i++)
		p[i * PAGE] = 1;
}

NOIPA static void touch_few(volatile char *p)
{
	for (long i = 0; i < FEW; i++)
		p[i * PAGE] = 1;
}

NOIPA static void rest(long times)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (long i = 0; i < times; i++)
		nanosleep(&ms, NULL);
}

static void *run(void *unused)
{
	char *many = new_pages(MANY), *few = new_pages(FEW);

	touch_many(many);
	touch_few(few);
	munmap(many, MANY * PAGE);
	munmap(few, FEW * PAGE);
	return unused;
}

static void round_of_all(void)
{
	pthread_t ids[TRACEE_THREADS];
	long i;

	for (i = 0; i < opt.threads; i++)
		CHECK(!pthread_create(&ids[i], NULL, run, NULL), "no thread");
	run(NULL);
	for (i = 0; i < opt.threads; i++)
		CHECK(!pthread_join(ids[i], NULL), "not joined");
	rest(opt.size);
}

int main(int argc, char **argv)
{
	struct rusage r;

	tracee_begin("faults", argc, argv, (struct tracee_options){ .rounds = 1 });
	while (tracee_more())
		round_of_all();
	TRY(getrusage(RUSAGE_SELF, &r));
	return tracee_ok("%ld faults", r.ru_minflt + r.ru_majflt);
}
