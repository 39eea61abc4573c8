/* SPDX-License-Identifier: MIT */
#include "view/state.h"

#include <string.h>

enum cp_live_kind cp_view_kind(const struct cp_view_state *s)
{
	return s->pane == CP_PANE_CALLS	  ? CP_LIVE_CALLS
	       : s->pane == CP_PANE_BYTES ? CP_LIVE_BYTES
					  : CP_LIVE_TIME;
}

const char *cp_view_order_name(enum cp_view_order order)
{
	static const char *const names[] = {
		[CP_VIEW_BY_LAST_SELF] = "self, last seconds",
		[CP_VIEW_BY_LAST_TOTAL] = "total, last seconds",
		[CP_VIEW_BY_SELF] = "self, since the start",
		[CP_VIEW_BY_TOTAL] = "total, since the start",
		[CP_VIEW_BY_COUNT] = "how often, last seconds",
		[CP_VIEW_BY_NAME] = "name",
	};

	return names[order];
}

void cp_view_state_deinit(struct cp_view_state *s)
{
	cp_vec_free(&s->path);
}

/* Another list: from its beginning. */
static void begin_list(struct cp_view_state *s)
{
	s->at = s->top = 0;
	s->any = s->moved = false;
}

static void show_pane(struct cp_view_state *s, enum cp_pane pane)
{
	if (!s->has[pane])
		return;
	s->pane = pane;
	s->page = CP_PAGE_PANE;
	s->path.count = 0;
	begin_list(s);
}

void cp_view_begin(struct cp_view_state *s)
{
	static const enum cp_pane first[] = { CP_PANE_FUNCTIONS, CP_PANE_CALLS, CP_PANE_BYTES,
					      CP_PANE_THREADS };
	size_t i = 0;

	while (!s->has[first[i]])
		i++;
	s->order[CP_PANE_CALLS] = CP_VIEW_BY_COUNT;
	show_pane(s, first[i]);
}

static void next_pane(struct cp_view_state *s)
{
	enum cp_pane pane = s->pane;

	do
		pane = (enum cp_pane)((pane + 1) % CP_PANES);
	while (!s->has[pane]);
	show_pane(s, pane);
}

static void enter(struct cp_view_state *s)
{
	if (!s->any || s->page == CP_PAGE_OUTPUT || s->page == CP_PAGE_HELP ||
	    s->row_of == CP_VIEW_LINES)
		return;
	if (s->row_of == CP_VIEW_THREADS) {
		s->thread = s->row.number;
		*s->filter = 0;
		cp_view_begin(s);
		return;
	}
	if (!cp_vec_push(&s->path, s->row.number))
		return;
	*s->filter = 0;
	s->page = CP_PAGE_FUNCTION;
	begin_list(s);
}

/* To what was there before. */
static void leave(struct cp_view_state *s)
{
	if (s->page == CP_PAGE_OUTPUT || s->page == CP_PAGE_HELP)
		s->page = s->path.count ? CP_PAGE_FUNCTION : CP_PAGE_PANE;
	else if (*s->filter)
		*s->filter = 0;
	else if (s->page == CP_PAGE_FUNCTION && s->path.count > 1)
		s->path.count--;
	else if (s->page == CP_PAGE_FUNCTION)
		show_pane(s, s->pane);
	else
		s->thread = CP_LIVE_ALL;
	begin_list(s);
}

/* On and off. */
static void turn_page(struct cp_view_state *s, enum cp_page page)
{
	bool back = s->page == page;

	s->page = !back ? page : s->path.count ? CP_PAGE_FUNCTION : CP_PAGE_PANE;
	begin_list(s);
}

static void sort_by(struct cp_view_state *s, enum cp_view_order order)
{
	s->order[s->pane] = order;
	begin_list(s);
}

static void move_to(struct cp_view_state *s, size_t at)
{
	s->at = s->count && at >= s->count ? s->count - 1 : at;
	s->moved = true;
	s->any = false; /* it is another one, which is drawn next */
}

static void move(struct cp_view_state *s, int key)
{
	size_t page = s->height ? s->height : 1;

	switch (key) {
	case CP_KEY_UP:
		move_to(s, s->at ? s->at - 1 : 0);
		break;
	case CP_KEY_DOWN:
		move_to(s, s->at + 1);
		break;
	case CP_KEY_PAGE_UP:
		move_to(s, s->at > page ? s->at - page : 0);
		break;
	case CP_KEY_PAGE_DOWN:
		move_to(s, s->at + page);
		break;
	case CP_KEY_END:
		move_to(s, s->count);
		break;
	default:
		begin_list(s);
		break;
	}
}

/* A key while the filter is being typed. */
static void type(struct cp_view_state *s, int key)
{
	size_t size = strlen(s->filter);

	if (key == CP_KEY_ENTER) {
		s->typing = false;
	} else if (key == CP_KEY_ESCAPE) {
		s->typing = false;
		*s->filter = 0;
	} else if (key == CP_KEY_BACKSPACE) {
		/* A character of UTF-8 has one byte that is none of its later ones. */
		while (size && (s->filter[size - 1] & 0xc0) == 0x80)
			s->filter[--size] = 0;
		if (size)
			s->filter[size - 1] = 0;
	} else if (key >= ' ' && key < 256 && size + 1 < sizeof(s->filter)) {
		s->filter[size] = (char)key;
		s->filter[size + 1] = 0;
	}
	begin_list(s);
}

static void press_letter(struct cp_view_state *s, int key)
{
	switch (key) {
	case '1':
	case '2':
	case '3':
	case '4':
		show_pane(s, (enum cp_pane)(key - '1'));
		break;
	case 't':
		show_pane(s, CP_PANE_THREADS);
		break;
	case 'a':
		s->thread = CP_LIVE_ALL;
		begin_list(s);
		break;
	case 'k':
		move(s, CP_KEY_UP);
		break;
	case 'j':
		move(s, CP_KEY_DOWN);
		break;
	case 's':
	case '>':
		sort_by(s, (enum cp_view_order)((s->order[s->pane] + 1) % CP_VIEW_ORDERS));
		break;
	case '<':
		sort_by(s, (enum cp_view_order)((s->order[s->pane] + CP_VIEW_ORDERS - 1) %
						CP_VIEW_ORDERS));
		break;
	case 'P':
		sort_by(s, CP_VIEW_BY_LAST_SELF);
		break;
	case 'T':
		sort_by(s, CP_VIEW_BY_LAST_TOTAL);
		break;
	case 'N':
		sort_by(s, CP_VIEW_BY_NAME);
		break;
	case 'o':
		if (s->has_output)
			turn_page(s, CP_PAGE_OUTPUT);
		break;
	case '/':
	case '\\':
		s->typing = true;
		break;
	default:
		break;
	}
}

static enum cp_view_does press(struct cp_view_state *s, int key)
{
	switch (key) {
	case 'q':
	case CP_KEY_F + 10:
		return CP_VIEW_QUITS;
	case 'p':
	case ' ':
		s->paused = !s->paused;
		return CP_VIEW_PAUSES;
	case CP_KEY_REDRAW:
		return CP_VIEW_REDRAWS;
	case 'h':
	case '?':
	case CP_KEY_F + 1:
		turn_page(s, CP_PAGE_HELP);
		break;
	case CP_KEY_F + 4:
		s->typing = true;
		break;
	case CP_KEY_F + 6:
		press_letter(s, 's');
		break;
	case CP_KEY_TAB:
		next_pane(s);
		break;
	case CP_KEY_ENTER:
	case CP_KEY_RIGHT:
		enter(s);
		break;
	case CP_KEY_ESCAPE:
	case CP_KEY_BACKSPACE:
	case CP_KEY_LEFT:
		leave(s);
		break;
	case CP_KEY_UP:
	case CP_KEY_DOWN:
	case CP_KEY_PAGE_UP:
	case CP_KEY_PAGE_DOWN:
	case CP_KEY_HOME:
	case CP_KEY_END:
		move(s, key);
		break;
	default:
		press_letter(s, key);
		break;
	}
	return CP_VIEW_STAYS;
}

enum cp_view_does cp_view_press(struct cp_view_state *s, int key)
{
	if (s->typing && key != CP_KEY_REDRAW) {
		type(s, key);
		return CP_VIEW_STAYS;
	}
	return press(s, key);
}
