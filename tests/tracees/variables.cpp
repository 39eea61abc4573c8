/* SPDX-License-Identifier: MIT
 *
 * Threads whose variables are known: C structs behind pointers, library types, an
 * inlined call, recursion, values in vector registers, one that sleeps. Two look at
 * the same object, which one of them changes all the time, both halves of it in
 * turn. One is in a function that called itself by a detour of tail calls, so its
 * caller's call is not the one by which it was entered.
 */
#include "tracee.h"

#include <memory>
#include <string>
#include <vector>

struct node {
	struct node *next;
	const char *name;
	double weight;
	int tags[4];
};
enum color { RED, GREEN = 5, BLUE };

struct pair {
	unsigned long first, second;
};

static volatile bool over;
static volatile double sink;
static volatile unsigned long turns[4];
static long checked;

/* ---- recursion, structs, strings on the heap ---- */

NOIPA static double leaf(const char *what, struct node n, enum color c, unsigned long count)
{
	char local[32];
	double sum = 0, factor = n.weight * c;
	struct node *p = &n;

	snprintf(local, sizeof(local), "%s!", what);
	for (unsigned long i = 0; i < count && !over; i++) {
		turns[0] = i;
		sum = sum / 2 + (double)(i & 7) * factor + p->tags[i & 3];
	}
	return sum + local[0];
}

NOIPA static double middle(struct node *list, int depth)
{
	char *heap = strdup("a string on the heap");
	double got = depth ? middle(list->next, depth - 1) : leaf(heap, *list, BLUE, ~0ul);

	free(heap);
	return got + depth;
}

static void *run_nodes(void *)
{
	struct node second = { nullptr, "second", 2.5, { 5, 6, 7, 8 } };
	struct node first = { &second, "first", 1.5, { 1, 2, 3, 4 } };

	second.next = &first;
	sink = middle(&first, 3);
	return nullptr;
}

/* ---- library types, an inlined call ---- */

struct shape {
	std::string name;
	double width;
	virtual ~shape();
	virtual double area(unsigned long rounds) const = 0;
	shape(const char *n, double w) : name(n), width(w)
	{
	}
};
shape::~shape()
{
}

struct square : shape {
	int id;
	square(const char *n, double w, int i) : shape(n, w), id(i)
	{
	}
	double area(unsigned long rounds) const override;
};

static inline double work(const square &of, unsigned long rounds, const std::string &label)
{
	double total = (double)label.size();

	for (unsigned long i = 0; i < rounds && !over; i++) {
		turns[1] = i;
		total = total / 2 + of.width * (double)(i & 3);
	}
	return total;
}

double square::area(unsigned long rounds) const
{
	std::string label = "label of " + name;

	return work(*this, rounds, label);
}

template <class T> NOIPA static double all(const std::vector<std::unique_ptr<T>> &list, long rounds)
{
	double sum = 0;

	for (auto &one : list)
		sum += one->area((unsigned long)rounds);
	return sum;
}

static void *run_shapes(void *)
{
	std::vector<std::unique_ptr<shape>> shapes;

	shapes.emplace_back(new square("a square with a long name", 2.5, 7));
	sink = all(shapes, -1l);
	return nullptr;
}

/* ---- one object, looked at by two ---- */

NOIPA static void changes(volatile struct pair *shared)
{
	for (unsigned long i = 1; !over; i++) {
		shared->first = i;
		shared->second = i;
		turns[2] = i;
	}
}

NOIPA static void looks(volatile struct pair *shared)
{
	while (!over)
		turns[3] = turns[3] + (shared->first != 0);
}

static volatile struct pair object;

static void *run_changes(void *)
{
	changes(&object);
	return nullptr;
}

static void *run_looks(void *)
{
	looks(&object);
	return nullptr;
}

/* ---- entered otherwise than it was called ---- */

NOIPA static void waits_here(void)
{
	while (!over)
		usleep(1000);
}

NOIPA static long detour(long number, long times);

NOIPA static long again(long number, long times)
{
	if (times)
		return detour(number + 1, times - 1);
	waits_here();
	return ++checked;
}

NOIPA static long detour(long number, long times)
{
	checked += number;
	return again(number + 1, times);
}

/* It is entered with 100, and again with 102. */
NOIPA static void *run_again(void *)
{
	if (again(100, 1) < 0)
		abort();
	return nullptr;
}

/* ---- one that sleeps ---- */

NOIPA static void sleeps(struct node *of, int fd)
{
	struct node copy = *of;
	char byte;

	copy.weight *= 2;
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	checked += copy.tags[1] == 22;
}

static int ends[2];

static void *run_sleeps(void *)
{
	struct node n = { nullptr, "sleeper", 21, { 11, 22, 33, 44 } };

	sleeps(&n, ends[0]);
	return nullptr;
}

/* ---- */

static void *(*const runs[])(void *) = { run_nodes, run_shapes, run_changes,
					 run_looks, run_again,	run_sleeps };
static const char *const names[] = { "nodes", "shapes", "changes", "looks", "again", "sleeps" };

static bool running(void)
{
	for (unsigned long turn : turns)
		if (!turn)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const size_t count = sizeof(runs) / sizeof(*runs);
	pthread_t threads[count];
	struct tracee_options defaults = {};

	defaults.rounds = 1;
	tracee_begin("variables", argc, argv, defaults);
	TRY(pipe(ends));
	for (size_t i = 0; i < count; i++) {
		CHECK(!pthread_create(&threads[i], NULL, runs[i], NULL), "pthread_create");
		pthread_setname_np(threads[i], names[i]);
	}
	while (!running())
		usleep(1000);
	tracee_wait();
	over = true;
	CHECK(write(ends[1], "x", 1) == 1, "write");
	for (pthread_t t : threads)
		CHECK(!pthread_join(t, NULL), "pthread_join");
	CHECK(object.first == object.second, "halves apart");
	CHECK(checked >= 2, "a variable is not what it was");
	return tracee_ok("each variable is what it was");
}
