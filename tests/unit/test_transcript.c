/* SPDX-License-Identifier: MIT
 *
 * Calls as lines: what waits for what, what is written when it has waited too long, and
 * what is left of a line where there is little room.
 */
#include "test.h"
#include "transcript/calls.h"

#define THREADS 2
#define LONGEST 4

struct scene {
	struct cp_transcript l;
	struct cp_look look;
	struct cp_buf out;
	struct cp_line_tail tails[THREADS];
	struct cp_line_call *open[8];
	size_t count;
};

static void label(void *ctx, uint64_t ns, uint32_t thread, struct cp_buf *out)
{
	(void)ctx;
	(void)ns;
	cp_line_add_label(out, thread ? "worker" : "main", 100 + (int32_t)thread);
}

static void force(void *ctx, uint64_t number, uint32_t thread)
{
	struct scene *s = ctx;
	size_t i;

	if (s->tails[thread].line == number)
		cp_transcript_end_tail(&s->l, &s->tails[thread]);
	for (i = 0; i < s->count; i++)
		if (s->open[i]->line == number)
			cp_transcript_open_braces(&s->l, s->open[i]);
}

static void write_line(void *ctx, const struct cp_buf *text)
{
	struct scene *s = ctx;

	cp_buf_add(&s->out, text->bytes, text->size);
}

static const struct cp_transcript_owner owner = { label, force, write_line };

static void begin_scene(struct scene *s, unsigned columns)
{
	size_t i;

	*s = (struct scene){ .look = { .columns = columns } };
	s->l = (struct cp_transcript){
		.owner = &owner, .ctx = s, .look = &s->look, .longest = LONGEST, .most_indent = 8
	};
	for (i = 0; i < THREADS; i++)
		s->tails[i].line = CP_NO_LINE;
}

static void end_scene(struct scene *s, const char *expected)
{
	cp_transcript_write(&s->l, true);
	CHECK_STR(s->out.bytes ? s->out.bytes : "", expected);
	cp_transcript_deinit(&s->l);
	cp_buf_free(&s->out);
}

/* Function `n` is called 'a' + n. */
static void enter(struct scene *s, uint64_t us, uint32_t thread, unsigned n,
		  struct cp_line_call *outer, const char *invoker, struct cp_line_call *ret)
{
	const char name[] = { (char)('a' + n), 0 };
	const struct cp_line_begin begin = {
		.ns = us * 1000,
		.thread = thread,
		.depth = outer ? outer->indent + 1 : 0,
		.indent = outer ? outer->indent + 1 : 0,
		.function = n,
		.name = name,
		.invoker = invoker,
		.arguments = "1",
	};

	CHECK(cp_transcript_begin_call(&s->l, &s->tails[thread], outer, &begin, ret));
	s->open[s->count++] = ret;
}

static void leave(struct scene *s, uint64_t us, uint32_t thread, const struct cp_line_call *call,
		  enum cp_line_ending how)
{
	uint64_t number = cp_transcript_closing(&s->l, call, "f", us * 1000, thread);
	struct cp_transcript_line *line = cp_transcript_at(&s->l, number);

	cp_line_ending(&s->l, line, how, 9);
	if (how == CP_LINE_RETURNED)
		cp_line_result(&s->l, line, "7", 9);
	cp_line_time(&s->l, line, 1500 + call->before_ns, call->at_most, 0);
	cp_line_end(line);
	cp_transcript_write(&s->l, false);
}

static void tail_call(struct scene *s, uint32_t thread, const struct cp_line_call *call,
		      uint64_t target)
{
	s->tails[thread] = (struct cp_line_tail){ .line = call->line,
						  .indent = call->indent,
						  .target = target,
						  .name = "b",
						  .ns = 500,
						  .at_most = true };
}

/* A line waits for the next event of its thread, and the other thread's for it. */
static void test_order(void)
{
	struct cp_line_call a, b, c;
	struct scene s;

	begin_scene(&s, 0);
	enter(&s, 10, 0, 0, NULL, "start", &a);
	enter(&s, 11, 1, 1, NULL, "thread", &b);
	leave(&s, 12, 1, &b, CP_LINE_UNSURE);
	CHECK(!s.out.size); /* it comes behind what is open */
	enter(&s, 13, 0, 2, &a, NULL, &c);
	leave(&s, 14, 0, &c, CP_LINE_RETURNED);
	leave(&s, 15, 0, &a, CP_LINE_RETURNED);
	end_scene(
		&s,
		"    0.000010  main             100  start: a(1) {\n"
		"    0.000011  worker           101  thread: b(1) ✗ unwound, or at rest  1.50 µs\n"
		"    0.000013  main             100    c(1) = 7  1.50 µs\n"
		"    0.000015  main             100  } = 7  1.50 µs\n");
}

/* The target of a tail call goes on in its line, with the time of both; one that does
 * not come is named; one that nobody knows is a question mark. */
static void test_tails(void)
{
	struct cp_line_call a, b, c, d;
	struct scene s;

	begin_scene(&s, 0);
	enter(&s, 10, 0, 0, NULL, NULL, &a);
	tail_call(&s, 0, &a, 1);
	enter(&s, 11, 0, 1, NULL, NULL, &b);
	leave(&s, 12, 0, &b, CP_LINE_RETURNED);
	enter(&s, 13, 0, 0, NULL, NULL, &c);
	tail_call(&s, 0, &c, 1);
	enter(&s, 14, 0, 3, NULL, NULL, &d);
	tail_call(&s, 0, &d, CP_NO_FUNCTION);
	cp_transcript_end_tail(&s.l, &s.tails[0]);
	end_scene(&s, "    0.000010  main             100  a(1) ⇒ b(1) = 7  <= 2.00 µs\n"
		      "    0.000013  main             100  a(1) ⇒ b  <= 500 ns\n"
		      "    0.000014  main             100  d(1) ⇒ ?  <= 500 ns\n");
}

/* When the queue is long, the line at its head is written as that of a call with calls
 * in it, and ends in a line of its own. */
static void test_long_queue(void)
{
	struct cp_line_call a, b;
	struct scene s;
	uint64_t i;

	begin_scene(&s, 0);
	enter(&s, 10, 0, 0, NULL, NULL, &a);
	for (i = 0; i < LONGEST; i++) {
		enter(&s, 11 + i, 1, 1, NULL, NULL, &b);
		leave(&s, 11 + i, 1, &b, CP_LINE_LOST);
		s.count--;
		CHECK_U64(s.out.size != 0, i + 1 == LONGEST);
	}
	leave(&s, 20, 0, &a, CP_LINE_RETURNED);
	end_scene(&s, "    0.000010  main             100  a(1) {\n"
		      "    0.000011  worker           101  b(1) … its end was lost  1.50 µs\n"
		      "    0.000012  worker           101  b(1) … its end was lost  1.50 µs\n"
		      "    0.000013  worker           101  b(1) … its end was lost  1.50 µs\n"
		      "    0.000014  worker           101  b(1) … its end was lost  1.50 µs\n"
		      "    0.000020  main             100  } = 7  1.50 µs\n");
}

/* Beyond most_indent the depth is a number; an inherited call's end says which it is. */
static void test_depth(void)
{
	struct cp_line_call deep = { .line = CP_NO_LINE, .indent = 12, .inherited = true };
	struct scene s;

	begin_scene(&s, 0);
	leave(&s, 10, 0, &deep, CP_LINE_ENDED);
	end_scene(&s, "    0.000010  main             100  12      } f (called before the fork)"
		      " ✗ its thread ended  1.50 µs\n");
}

/* With little room, who called has a line of its own, and a tail call's target. */
/* A list that is too long is cut in each of its values, or between them. */
static void check_values(const char *text, unsigned columns, const char *want)
{
	struct cp_transcript_line line = { 0 };
	struct scene s;

	begin_scene(&s, columns);
	cp_line_values(&s.l, &line, CP_PAINT_PLAIN, text, 0, 4);
	cp_buf_u8(&line.text, 0);
	CHECK_STR(line.text.bytes, want);
	cp_buf_free(&line.text);
	cp_transcript_deinit(&s.l);
}

static void test_values(void)
{
	check_values("1, \"ab, cd\", 3", 20, "1, \"ab, cd\", 3");
	check_values("1, \"abcdefgh, cdefgh\", \"z\"", 20, "1, \"abcd…defgh\", \"z\"");
	check_values("\"abc\\\"defgh, x\", {a=1, b=2, c=3}", 20, "\"abc…, x\", {a=1…c=3}");
	check_values("'(', 0x5602156884e8, 7, \"SELECT\"", 18, "'(', 0x56…884e8, …");
	check_values("\"abcdefghijklm\"", 6, "\"a…lm\"");
	check_values("\"abcdefghijklm\", 5", 6, "…");
	check_values("'a, b \" {(", 6, "'a, …");
}

static void test_narrow(void)
{
	struct cp_line_call a, b;
	struct scene s;

	begin_scene(&s, 76);
	enter(&s, 10, 0, 0, NULL, "callback from qsort", &a);
	tail_call(&s, 0, &a, 1);
	enter(&s, 11, 0, 1, NULL, NULL, &b);
	leave(&s, 12, 0, &b, CP_LINE_RETURNED);
	end_scene(&s, "    0.000010  main             100  callback from qsort:\n"
		      "    0.000010  main             100  a(1)\n"
		      "    0.000011  main             100  ⇒ b(1) = 7  <= 2.00 µs\n");
}

int main(void)
{
	test_order();
	test_tails();
	test_long_queue();
	test_depth();
	test_narrow();
	test_values();
	TEST_MAIN_END;
}
