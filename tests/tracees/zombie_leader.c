/* SPDX-License-Identifier: MIT
 *
 * The leading thread leaves with pthread_exit while others go on: what remains
 * has a zombie leader, whose exe and maps are empty, until the last of them ends
 * the process. --until=FILE only: the leader is who would read a pipe's end.
 */
#include <stdatomic.h>

#include "tracee.h"

static pthread_t leader;
static atomic_long sums[4];

static void *worker(void *arg)
{
	atomic_long *sum = arg;

	for (int i = 0; i < 200; i++)
		*sum += (long)(tracee_mix((uint32_t)i, 100) & 0xff);
	return NULL;
}

static bool leader_is_zombie(void)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	f = fopen(path, "re");
	CHECK(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1, "%s", path);
	fclose(f);
	return state == 'Z';
}

static void *heir(void *arg)
{
	long want = 0;

	(void)arg;
	CHECK(!pthread_join(leader, NULL), "pthread_join of the leader");
	while (!leader_is_zombie())
		sched_yield();
	for (int i = 0; i < 200; i++)
		want += (long)(tracee_mix((uint32_t)i, 100) & 0xff);
	while (tracee_more()) {
		pthread_t threads[4];

		for (int i = 0; i < 4; i++) {
			sums[i] = 0;
			threads[i] = tracee_thread(worker, &sums[i]);
		}
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], NULL);
			CHECK(sums[i] == want, "sum %ld, not %ld", (long)sums[i], want);
		}
	}
	exit(tracee_ok("went on without its leader"));
}

int main(int argc, char **argv)
{
	tracee_begin("zombie_leader", argc, argv, (struct tracee_options){ .rounds = 40 });
	leader = pthread_self();
	tracee_thread(heir, NULL);
	pthread_exit(NULL);
}
