/* SPDX-License-Identifier: MIT
 *
 * Functions that fill in what their arguments point to, and print what that is
 * then: the function, the argument, what it leads to, as C has it.
 */
#include <stdio.h>
#include <string.h>

#include "tracee.h"

struct point {
	int x, y;
	const char *name;
};

static NOIPA int split(const char *text, char *head, int *rest, const struct point *unused)
{
	size_t n = strcspn(text, ":");

	memcpy(head, text, n);
	head[n] = '\0';
	*rest = (int)strlen(text + n);
	return unused->x;
}

static NOIPA void move_by(struct point *p, int by, struct point **last)
{
	p->x += by;
	p->y -= by;
	p->name = "moved";
	*last = p;
}

static NOIPA bool keep(const struct point *p, int *count)
{
	*count += p->x - 1; /* by 0: stays */
	return true;
}

/* The last two are passed on the stack, where they don't stay. */
static NOIPA int many(int a, int b, int c, int d, int e, const char *f, int *seventh,
		      struct point *eighth)
{
	*seventh = a + b + c + d;
	eighth->x = d + e;
	eighth = NULL;
	__asm__ volatile("" : : "m"(eighth));
	return (int)strlen(f);
}

int main(int argc, char **argv)
{
	struct point p = { 1, 2, "start" }, *last = NULL;
	char head[16] = "before";
	int rest = 0;

	tracee_begin("out", argc, argv, (struct tracee_options){ .rounds = 1 });
	while (tracee_more()) {
		split("key:value", head, &rest, &p);
		printf("split head=\"%s\"\nsplit rest=&%d\n", head, rest);
		keep(&p, &rest);
		move_by(&p, 3, &last);
		printf("move_by p=&{x=%d, y=%d, name=\"%s\"}\nmove_by last=&%p\n", p.x, p.y, p.name,
		       (void *)last);
		many(1, 2, 3, 4, 5, "six", &rest, &p);
		printf("many seventh=&%d\nmany eighth=&{x=%d, y=%d, name=\"%s\"}\n", rest, p.x, p.y,
		       p.name);
	}
	return tracee_ok("filled in");
}
