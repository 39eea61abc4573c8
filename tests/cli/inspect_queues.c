/* SPDX-License-Identifier: MIT
 *
 * What programs of C hold things in, for tests of declarations of `cprof inspect`: some of
 * it hostile. Says "ready", and ends when its standard input does.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct link {
	struct link *next;
};
struct job {
	int number;
	struct link link;
};
struct queue {
	struct link jobs;
};
typedef struct _GList {
	void *data;
	struct _GList *next, *prev;
} GList;
struct slot {
	const char *key;
	int number;
};
struct table {
	unsigned long size;
	struct slot *slots;
};
struct span {
	const char *begin, *end;
};
struct node {
	struct node *less, *more;
	int key;
};
struct tree {
	struct node *root;
};
struct either {
	bool is_set;
	int number;
};

struct job jobs[3] = { { 1, { &jobs[1].link } }, { 2, { &jobs[2].link } }, { 3, { NULL } } };
struct queue queue = { { &jobs[0].link } };
GList nodes[3] = { { "first", &nodes[1], NULL },
		   { "second", &nodes[2], &nodes[0] },
		   { "third", NULL, &nodes[1] } };
GList *glist = nodes;
struct slot slots[8] = { [1] = { "one", 1 }, [4] = { "two", 2 }, [6] = { "three", 3 } };
struct table table = { 8, slots };
static const char text[] = "some text";
struct span span = { text + 5, text + 9 };
struct node tree_nodes[5] = { { &tree_nodes[1], &tree_nodes[2], 4 },
			      { &tree_nodes[3], NULL, 2 },
			      { NULL, NULL, 5 },
			      { NULL, &tree_nodes[4], -1 },
			      { NULL, NULL, 1 } };
struct tree tree = { tree_nodes };
struct either either = { true, 7 }, neither;

/* A chain that leads back into itself, one that leads nowhere, a tree that is its own
 * child, and numbers of elements that can't be. */
GList ring[3] = { { "a", &ring[1], NULL }, { "b", &ring[2], NULL }, { "c", &ring[1], NULL } };
GList *looped = ring;
GList astray_node = { "astray", (GList *)0x1230, NULL };
GList *astray = &astray_node;
struct node own_child = { &own_child, &own_child, 1 };
struct tree endless = { &own_child };
struct table wide = { 1ul << 60, slots };
struct span huge = { text, text + (1ul << 60) };

int main(void)
{
	jobs[2].link.next = &queue.jobs;
	puts("ready");
	fflush(stdout);
	return getchar() == 'x';
}
