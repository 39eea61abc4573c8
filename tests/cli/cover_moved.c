/* Optimised, instructions of lines that are not reached run: they were moved up,
 * to where others run. argv[1] chooses what is reached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
	long top, limit, base, flags;
	long items[16];
};

__attribute__((noinline, noclone)) static void set_top(struct state *s, int at)
{
	s->top = s->base + at;
	asm volatile("" ::: "memory");
}

__attribute__((noinline, noclone)) static int is_whole(struct state *s, int at)
{
	asm volatile("" ::: "memory");
	return s->items[at] >= 0;
}

__attribute__((noinline, noclone)) static void fail(struct state *s, const char *text, long value)
{
	asm volatile("" ::: "memory");
	printf("%s %ld %ld\n", text, value, s->top);
}

__attribute__((noinline, noclone)) int round_down(struct state *s)
{
	if (is_whole(s, 1))
		set_top(s, 1);
	else {
		long item = s->items[1];

		fail(s, "not whole", item);
	}
	return 1;
}

__attribute__((noinline, noclone)) long grow(struct state *s, long by)
{
	long level = s->top;

	if (level >= s->limit)
		fail(s, "too many", level);
	s->items[level & 15] = by;
	s->top = level + 1;
	if (by < 0)
		return s->base - by;
	return s->base + by;
}

__attribute__((noinline, noclone)) long chain(struct state *s, long i, long to)
{
	long next = s->items[i & 15];

	if (next == -1)
		return -1;
	else
		return i + 1 + next;
}

__attribute__((noinline, noclone)) int check(struct state *s, const char *mode, int first)
{
	if (first == 27) {
		if (!strchr(mode, 'b'))
			fail(s, "binary", first);
		s->flags = 1;
	} else {
		if (!strchr(mode, 't'))
			fail(s, "text", first);
		s->flags = 2;
	}
	return first;
}

int main(int argc, char **argv)
{
	struct state s = { .limit = 9, .base = 3 };
	int first = argc > 1 ? atoi(argv[1]) : 0;

	s.items[1] = -7;
	round_down(&s);
	grow(&s, 4);
	s.items[2] = -1;
	chain(&s, 2, 3);
	check(&s, "bt", first);
	printf("%ld\n", s.top + s.flags);
	return 0;
}
