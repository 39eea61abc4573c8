/* SPDX-License-Identifier: MIT
 *
 * Types for fuzz_inspect_things.c, which has the declarations of what they hold.
 */
struct node {
	struct node *next, *left, *right;
	int key;
	short tag;
	const char *name;
};
struct leaf {
	short length;
	int keys[11];
	struct leaf *edges[12];
};
struct chain {
	struct node *first;
	long count;
};
struct tree {
	struct node *root;
};
struct btree {
	struct leaf *root;
	long count, height;
};
struct row {
	struct node *at, *end;
};
struct text {
	char *at;
	unsigned long length;
};
struct table {
	struct node **slots;
	unsigned count;
};
struct maybe {
	unsigned char set;
	struct chain value;
};
struct all {
	struct chain chain;
	struct tree tree;
	struct btree btree;
	struct row row;
	struct text text;
	struct table table;
	struct maybe maybe;
	struct node node, *nodes[2];
	unsigned low : 3, high : 20;
	double real;
	long double wide;
	__int128 large;
	float _Complex complex;
	union {
		int number;
		float part;
	};
	char flexible[];
};

struct all all;

int main(void)
{
	return all.node.key;
}
