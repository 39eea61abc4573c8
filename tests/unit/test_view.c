/* SPDX-License-Identifier: MIT
 *
 * The live view: a screen of any size, whatever keys are pressed, has no more than there is
 * room for; and what is on it.
 */
#include "base/clock.h"
#include "base/text.h"
#include "test.h"
#include "view/draw.h"

#define START (100 * CP_NS_PER_S)

struct scene {
	struct cp_live sums;
	struct cp_view view;
	struct cp_view_state state;
	struct cp_frame frame;
};

static void begin(struct scene *s)
{
	static const char *const names[] = {
		"main",	       "std::vector<int, std::allocator<int> >::push_back(int const&)",
		"\033[31mred", "\xff\xfe",
		"größe",       "a_function_with_a_name_that_is_longer_than_any_terminal_is_wide"
	};
	uint32_t thread, i, n;

	*s = (struct scene){ 0 };
	cp_live_init(&s->sums, START);
	thread = cp_live_thread(&s->sums, 7, 7);
	snprintf(s->sums.threads.items[thread].name, 64, "work\007er");
	for (i = 0; i < 60; i++) {
		char name[100];
		struct cp_live_frame frames[2] = { { 0, i + 1 }, { 0, 1 } };

		snprintf(name, sizeof(name), "%s%u", names[i % 6], i / 6);
		n = cp_live_function(&s->sums, name, "pro\ngram", "nowhere.c");
		frames[0].function = n;
		cp_live_add(&s->sums, CP_LIVE_TIME, thread, i % 3, frames, 2, 1, i);
		cp_live_add(&s->sums, CP_LIVE_BYTES, thread, i % 3, frames, 2, 1, i * 1000);
		cp_live_add_calls(&s->sums, thread, i % 3, CP_LIVE_NONE, n,
				  &(struct cp_live_amount){ i, i, i });
	}
	cp_live_advance(&s->sums, START + 3 * CP_NS_PER_S + 1);
	s->view = (struct cp_view){ .sums = &s->sums,
				    .program = "the \033program",
				    .pid = 7,
				    .kinds = { true, true, true } };
	for (i = 0; i < CP_PANES; i++)
		s->state.has[i] = true;
	s->state.has_output = true;
	cp_view_begin(&s->state);
}

static void end(struct scene *s)
{
	cp_frame_deinit(&s->frame);
	cp_view_state_deinit(&s->state);
	cp_view_deinit(&s->view);
	cp_live_deinit(&s->sums);
}

static void draw(struct scene *s, unsigned rows, unsigned columns)
{
	CHECK(cp_frame_begin(&s->frame, rows, columns));
	cp_view_draw(&s->view, &s->state, "one\ntwo\033\nthree", &s->frame);
}

/* Is there a line with that text? */
static bool shows(const struct scene *s, const char *text)
{
	unsigned i;

	for (i = 0; i < s->frame.used; i++)
		if (s->frame.lines[i].text.bytes && strstr(s->frame.lines[i].text.bytes, text))
			return true;
	return false;
}

static void check_lines(const struct scene *s)
{
	unsigned i, n;

	CHECK(s->frame.used <= s->frame.rows);
	for (i = 0; i < s->frame.used; i++) {
		const struct cp_frame_line *line = &s->frame.lines[i];
		const char *text = line->text.bytes ? line->text.bytes : "";

		CHECK(strlen(text) == line->text.size);
		CHECK(cp_text_columns(text) <= s->frame.columns);
		for (n = 0; n < line->text.size; n++)
			CHECK((unsigned char)text[n] >= ' ' && text[n] != 127);
		for (n = 0; n < line->parts.count; n++)
			CHECK(line->parts.items[n].from < line->parts.items[n].to &&
			      line->parts.items[n].to <= line->text.size);
	}
}

static void test_any_keys(void)
{
	static const int keys[] = { CP_KEY_ENTER,
				    CP_KEY_BACKSPACE,
				    CP_KEY_UP,
				    CP_KEY_DOWN,
				    CP_KEY_DOWN,
				    CP_KEY_PAGE_UP,
				    CP_KEY_END,
				    CP_KEY_PAGE_DOWN,
				    CP_KEY_HOME,
				    CP_KEY_TAB,
				    CP_KEY_F + 1,
				    CP_KEY_ESCAPE,
				    CP_KEY_RIGHT,
				    CP_KEY_LEFT,
				    '1',
				    '2',
				    '3',
				    '4',
				    's',
				    '<',
				    'P',
				    'T',
				    'N',
				    'a',
				    'o',
				    't',
				    '/',
				    'e',
				    0xc3,
				    0xb6,
				    0,
				    'p' };
	uint32_t random = 12345, i;
	struct scene s;

	begin(&s);
	for (i = 0; i < 3000; i++) {
		random = random * 1103515245 + 12345;
		draw(&s, (random >> 8) % 30, (random >> 16) % 140);
		check_lines(&s);
		cp_view_press(&s.state, keys[(random >> 24) % (sizeof(keys) / sizeof(keys[0]))]);
	}
	end(&s);
}

static void test_what_is_there(void)
{
	struct scene s;

	begin(&s);
	draw(&s, 24, 80);
	CHECK(shows(&s, "[1 Functions]"));
	CHECK(shows(&s, "größe9")); /* among those that have most */
	CHECK(!shows(&s, "größe0"));
	cp_view_press(&s.state, CP_KEY_END);
	draw(&s, 24, 80);
	CHECK(!shows(&s, "größe9"));
	cp_view_press(&s.state, '/');
	for (const char *at = "GRÖSSE9"; *at; at++) /* case is that of ASCII alone */
		cp_view_press(&s.state, (unsigned char)*at);
	draw(&s, 24, 80);
	CHECK(shows(&s, "nothing has this text"));
	cp_view_press(&s.state, CP_KEY_ESCAPE);
	cp_view_press(&s.state, 't');
	draw(&s, 24, 80);
	CHECK(shows(&s, "work\\x07er"));
	cp_view_press(&s.state, CP_KEY_ENTER);
	draw(&s, 24, 80);
	CHECK(shows(&s, "thread work\\x07er (7)"));
	end(&s);
}

/* The chosen row stays chosen where it goes when the order changes. */
static void test_chosen(void)
{
	char before[200];
	struct scene s;
	unsigned i;

	begin(&s);
	draw(&s, 24, 80);
	cp_view_press(&s.state, CP_KEY_DOWN);
	draw(&s, 24, 80);
	snprintf(before, sizeof(before), "%s", s.state.row.name);
	for (i = 0; i < 60; i++)
		cp_live_add(&s.sums, CP_LIVE_TIME, CP_LIVE_ALL, 2,
			    &(struct cp_live_frame){ i % 7, 0 }, 1, 1, 1000 * i);
	draw(&s, 24, 80);
	CHECK_STR(s.state.row.name, before);
	CHECK(s.state.at > 1);
	/* Who has not moved sees the first. */
	cp_view_press(&s.state, CP_KEY_HOME);
	draw(&s, 24, 80);
	CHECK(s.state.at == 0);
	end(&s);
}

int main(void)
{
	test_any_keys();
	test_what_is_there();
	test_chosen();
	TEST_MAIN_END;
}
