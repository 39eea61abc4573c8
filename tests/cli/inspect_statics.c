/* SPDX-License-Identifier: MIT
 *
 * Variables of all kinds that C has, for tests of `cprof inspect`. Says "ready", and
 * ends when its standard input does. The other file of it has statics of the same names.
 */
#define _GNU_SOURCE
#include <complex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum color { RED, GREEN = 5, BLUE };
struct node {
	struct node *next, *prev;
	void *value;
	int n;
	unsigned a : 3, b : 5;
	signed c : 7;
};
struct list {
	struct node *head;
	unsigned long length;
};
struct server {
	int pid;
	const char *name;
	struct list *clients;
	double load;
	enum color color;
	struct {
		int x, y;
	} at;
	union {
		int i;
		float f;
	};
	char text[16];
	int ports[8];
	struct node one;
	long double wide;
	struct opaque *opaque;
};

struct server server = { .name = "a \"server\"",
			 .load = 2.5,
			 .color = BLUE,
			 .at = { 3, 4 },
			 .ports = { 1, 2, 3 },
			 .text = "hello" };
static int counter = 7;
long long commands = 1234567890123;
unsigned long long largest = ~0ull;
__int128 huge = (__int128)1 << 100;
float single = 1.5f;
double complex turned = 1 + 2 * I;
bool truth = true;
char letter = 'x', buffer[12] = "left\0behind";
const char marks[] = "-x0\0X0\0", *const spelt[] = { "a", "b" };
signed char small = -5;
uint8_t byte = 200;
short numbers[70] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
int matrix[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } };
const char *words[] = { "zero", "one", "two", NULL };
int (*function)(const char *) = puts;
int *pointer = &matrix[1][2];
int volatile *const volatile fixed = &counter;
struct opaque *nothing;
__thread int each = 5;
static __thread long own;
int of_other(void);
extern void stay(void);
void (*volatile keep)(void) = stay;

static void *run(void *number)
{
	own = (intptr_t)number;
	each = (int)(intptr_t)number * 10;
	pthread_setname_np(pthread_self(), (intptr_t)number == 2 ? "second" : "third");
	printf("thread\n");
	for (;;)
		pause();
	return NULL;
}

void stay(void)
{
	struct list inner = *server.clients;
	char c;

	puts("ready");
	while (read(0, &c, 1) < 0)
		;
	server.clients->length = inner.length;
}

int main(void)
{
	static int calls = 42;
	struct node *nodes = calloc(2, sizeof(*nodes));
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	server.pid = getpid();
	server.clients = calloc(1, sizeof(struct list));
	nodes[0] = (struct node){ &nodes[1], NULL, "value", 10, 5, 17, -3 };
	nodes[1] = (struct node){ NULL, &nodes[0], NULL, 20, 1, 2, 3 };
	server.clients->head = nodes;
	server.clients->length = 2;
	calls += of_other();
	counter += calls;
	own = 1;
	if (pthread_create(&thread, NULL, run, (void *)2) ||
	    pthread_create(&thread, NULL, run, (void *)3))
		return 1;
	keep();
	return *fixed == 0;
}
