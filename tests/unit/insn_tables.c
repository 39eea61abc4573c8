/* SPDX-License-Identifier: MIT
 *
 * Switches that compilers make jump tables of; compiled in several ways, with
 * SET as the name. Each case says where its code is.
 */
#define CONCAT(a, b) a##b
#define NAME(set, function) CONCAT(set, function)
#define TEXT(x) #x
#define SECTION(set) TEXT(set)

extern volatile long table_sink;

struct message {
	int other;
	unsigned kind;
};

/* The code of a case begins here, at the latest. */
#define CASE(n) \
	case n: \
		__asm__ volatile("1: .pushsection " SECTION(SET) "_cases, \"aw\", @progbits\n\t" \
								 ".quad 1b\n\t.popsection"); \
		table_sink += (n) * (n) + 1; \
		break

#define FUNCTION(name) \
	__attribute__((section(SECTION(SET) "_code"), noinline, no_sanitize("all"))) name

#define CASES_8(n) \
	CASE(n); \
	CASE((n) + 1); \
	CASE((n) + 2); \
	CASE((n) + 3); \
	CASE((n) + 4); \
	CASE((n) + 5); \
	CASE((n) + 6); \
	CASE((n) + 7)

void NAME(SET, _int)(int x);
void NAME(SET, _offset)(long x);
void NAME(SET, _byte)(const unsigned char *p);
void NAME(SET, _mask)(unsigned x);
void NAME(SET, _memory)(struct message *m);
void NAME(SET, _loop)(const char *s);
void NAME(SET, _two)(int x, unsigned char y);

void FUNCTION(NAME(SET, _int))(int x)
{
	switch (x) {
		CASES_8(0);
		CASE(11);
		CASE(13);
	}
}

void FUNCTION(NAME(SET, _offset))(long x)
{
	switch (x) {
		CASES_8(100);
		CASE(110);
	default:
		table_sink = 3;
	}
}

void FUNCTION(NAME(SET, _byte))(const unsigned char *p)
{
	switch (*p) {
		CASES_8('a');
		CASE('m');
	}
}

void FUNCTION(NAME(SET, _mask))(unsigned x)
{
	switch (x & 7) {
		CASES_8(0);
	}
}

void FUNCTION(NAME(SET, _memory))(struct message *m)
{
	if (m->kind > 20)
		return;
	switch (m->kind) {
		CASES_8(1);
		CASE(17);
	}
}

void FUNCTION(NAME(SET, _loop))(const char *s)
{
	for (; *s; s++) {
		switch (*s) {
			CASES_8('0');
			CASES_8('A');
		default:
			table_sink--;
		}
	}
}

void FUNCTION(NAME(SET, _two))(int x, unsigned char y)
{
	switch (x) {
		CASES_8(0);
	default:
		return;
	}
	switch (y) {
		CASES_8(30);
		CASES_8(50);
	}
}
