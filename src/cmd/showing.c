/* SPDX-License-Identifier: MIT */
#include "cmd/showing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "cmd/guard.h"
#include "cmd/terminal.h"
#include "view/draw.h"
#include "view/screen.h"

struct cp_showing {
	struct cp_view *view;
	const struct cp_keeping *keeping;
	cprof_session *session;
	struct cp_screen *screen; /* NULL: it was given back */
	struct cp_view_state state;
	struct cp_frame frame;
	struct cp_live *sums; /* those that move */
	struct cp_live frozen; /* those of a moment */
	bool freezes;
	int wake; /* eventfd */
	_Atomic bool ends;
	struct sigaction resized;
	pthread_t thread;
};

/* A signal's handler gets no argument. */
static volatile sig_atomic_t to_wake = -1;

static void on_resize(int signal)
{
	int saved = errno;

	(void)signal;
	if (to_wake >= 0)
		eventfd_write(to_wake, 1);
	errno = saved;
}

/* cprof goes down. */
static void abandon(void)
{
	cp_screen_abandon();
	cp_keeping_abandon();
}

/* ---- the thread ---- */

/* Those who look see the sums of a moment, or those that move. */
static void freeze(struct cp_showing *s, bool stop)
{
	if (s->freezes)
		cp_live_deinit(&s->frozen);
	s->freezes = stop;
	if (stop)
		cp_live_freeze(&s->frozen, s->sums);
	s->view->sums = stop ? &s->frozen : s->sums;
}

/* Also where nobody will see it: what the next key does depends on it. */
static bool draw(struct cp_showing *s)
{
	struct cp_buf output CP_CLEANUP(cp_buf_free) = { 0 };
	unsigned rows, columns;

	cp_screen_size(s->screen, &rows, &columns);
	if (!cp_frame_begin(&s->frame, rows, columns))
		return false;
	if (s->state.page == CP_PAGE_OUTPUT)
		cp_keeping_read(s->keeping, &output);
	cp_view_draw(s->view, &s->state, output.bytes, &s->frame);
	return true;
}

/* All keys that were pressed; false: it is the end. */
static bool take_keys(struct cp_showing *s)
{
	int key;

	while ((key = cp_screen_key(s->screen)) != CP_KEY_NONE) {
		switch (cp_view_press(&s->state, key)) {
		case CP_VIEW_QUITS:
			return false;
		case CP_VIEW_PAUSES:
			freeze(s, s->state.paused);
			break;
		case CP_VIEW_REDRAWS:
			cp_screen_redraw(s->screen);
			break;
		case CP_VIEW_STAYS:
			break;
		}
		draw(s);
	}
	return true;
}

static void give_back(struct cp_showing *s)
{
	cp_screen_close(s->screen);
	s->screen = NULL;
}

static void *show(void *data)
{
	struct cp_showing *s = data;
	struct pollfd fds[] = { { .fd = s->wake, .events = POLLIN },
				{ .fd = s->keeping->terminal, .events = POLLIN } };
	eventfd_t count;
	bool more = true;

	while (more && !s->ends) {
		if (draw(s))
			cp_screen_show(s->screen, &s->frame);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			eventfd_read(s->wake, &count);
		more = !(fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)) && take_keys(s);
	}
	give_back(s);
	if (!more)
		cprof_session_stop(s->session);
	return NULL;
}

/* ---- begin and end ---- */

static void destroy(struct cp_showing *s)
{
	to_wake = -1;
	cp_guard_set_restore(NULL);
	sigaction(SIGWINCH, &s->resized, NULL);
	give_back(s);
	freeze(s, false);
	cp_view_state_deinit(&s->state);
	cp_frame_deinit(&s->frame);
	if (s->wake >= 0)
		close(s->wake);
	free(s);
}

static bool begin(struct cp_showing *s)
{
	const struct sigaction resize = { .sa_handler = on_resize, .sa_flags = SA_RESTART };
	const struct cp_terminal terminal = cp_terminal_of(s->keeping->terminal);

	sigaction(SIGWINCH, &resize, NULL); /* else ncurses would have its own */
	s->screen = cp_screen_open(s->keeping->terminal, terminal.color, cp_terminal_is_ascii());
	if (!s->screen)
		return false;
	to_wake = s->wake;
	cp_guard_set_restore(abandon);
	return !cp_thread_start(&s->thread, show, s);
}

struct cp_showing *cp_showing_begin(struct cp_view *view, const struct cp_keeping *keeping,
				    cprof_session *session)
{
	struct cp_showing *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->view = view;
	s->sums = view->sums;
	s->keeping = keeping;
	s->session = session;
	s->state.has[CP_PANE_FUNCTIONS] = view->kinds[CP_LIVE_TIME];
	s->state.has[CP_PANE_THREADS] = true;
	s->state.has[CP_PANE_CALLS] = view->kinds[CP_LIVE_CALLS];
	s->state.has[CP_PANE_BYTES] = view->kinds[CP_LIVE_BYTES];
	s->state.has_output = view->launched;
	cp_view_begin(&s->state);
	sigaction(SIGWINCH, NULL, &s->resized);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake >= 0 && begin(s))
		return s;
	destroy(s);
	return NULL;
}

void cp_showing_tick(struct cp_showing *s)
{
	eventfd_write(s->wake, 1);
}

void cp_showing_end(struct cp_showing *s)
{
	if (!s)
		return;
	s->ends = true;
	eventfd_write(s->wake, 1);
	pthread_join(s->thread, NULL);
	destroy(s);
}
