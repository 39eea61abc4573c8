/* SPDX-License-Identifier: MIT */
#include "view/screen.h"

#define MOST_ROWS 1000
#define MOST_COLUMNS 2000
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#undef lines
#undef columns

#include "base/ascii.h"

struct cp_screen {
	SCREEN *screen;
	FILE *in, *out;
	bool ascii;
};

/* What a signal handler, which gets no argument, gives back. */
static struct {
	_Atomic int fd; /* -1: there is nothing */
	struct termios modes;
	char text[256];
	size_t size;
} haste = { .fd = -1 };

bool cp_screen_can(int fd)
{
	const char *clear;
	int error;

	if (setupterm(NULL, fd, &error) != OK)
		return false;
	clear = tigetstr("clear");
	return clear && clear != (const char *)-1 && tigetstr("cup") && !tigetflag("hc");
}

static void add_haste(const char *capability)
{
	const char *text = tigetstr(capability);

	if (!text || text == (const char *)-1 || strlen(text) >= sizeof(haste.text) - haste.size)
		return;
	/* What is in $<> is for terminals that were slow. */
	while (*text) {
		if (!strncmp(text, "$<", 2) && strchr(text, '>'))
			text = strchr(text, '>') + 1;
		else
			haste.text[haste.size++] = *text++;
	}
}

static void prepare_haste(int fd)
{
	static const char *const capabilities[] = { "sgr0", "cnorm", "rmkx", "rmcup" };
	size_t i;

	haste.size = 0;
	for (i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		add_haste(capabilities[i]);
	haste.fd = fd;
}

/* Ctrl-C is a signal as ever; Ctrl-Z and Ctrl-\ would leave the terminal as it is. */
static void set_modes(int fd)
{
	struct termios modes;

	if (tcgetattr(fd, &modes))
		return;
	modes.c_cc[VSUSP] = modes.c_cc[VQUIT] = _POSIX_VDISABLE;
	tcsetattr(fd, TCSADRAIN, &modes);
}

static void set_colors(void)
{
	static const short colors[] = {
		[CP_PAINT_HOT] = COLOR_RED,    [CP_PAINT_WARM] = COLOR_YELLOW,
		[CP_PAINT_COOL] = COLOR_GREEN, [CP_PAINT_NAME] = COLOR_CYAN,
		[CP_PAINT_TITLE] = COLOR_BLUE, [CP_PAINT_WARNING] = COLOR_YELLOW,
	};
	short i;

	if (!has_colors() || start_color() != OK)
		return;
	use_default_colors();
	for (i = 0; i < (short)(sizeof(colors) / sizeof(colors[0])); i++)
		if (colors[i])
			init_pair(i, colors[i], -1);
}

struct cp_screen *cp_screen_open(int fd, bool color, bool ascii)
{
	struct cp_screen *s = calloc(1, sizeof(*s));
	int in = dup(fd), out = dup(fd);
	struct winsize size;

	if (!s)
		return NULL;
	setlocale(LC_CTYPE, "");
	s->ascii = ascii;
	s->in = fdopen(in, "r");
	s->out = fdopen(out, "w");
	tcgetattr(fd, &haste.modes);
	if (s->out && !ioctl(fileno(s->out), TIOCGWINSZ, &size) &&
	    (size.ws_row > MOST_ROWS || size.ws_col > MOST_COLUMNS))
		use_env(FALSE); /* it begins with the size that terminfo has */
	s->screen = s->in && s->out ? newterm(NULL, s->out, s->in) : NULL;
	if (!s->screen) {
		cp_screen_close(s);
		return NULL;
	}
	prepare_haste(fd);
	set_term(s->screen);
	cbreak();
	noecho();
	nonl();
	set_modes(fd);
	set_escdelay(25);
	keypad(stdscr, true);
	nodelay(stdscr, true);
	curs_set(0);
	if (color)
		set_colors();
	return s;
}

void cp_screen_close(struct cp_screen *s)
{
	int fd = atomic_exchange(&haste.fd, -1);

	if (!s)
		return;
	if (s->screen && fd >= 0) { /* else it was abandoned */
		endwin();
		delscreen(s->screen);
		tcsetattr(fd, TCSADRAIN, &haste.modes);
	}
	if (s->in)
		fclose(s->in);
	if (s->out)
		fclose(s->out);
	free(s);
}

void cp_screen_abandon(void)
{
	int fd = atomic_exchange(&haste.fd, -1);

	if (fd < 0)
		return;
	if (write(fd, haste.text, haste.size) >= 0)
		tcsetattr(fd, TCSANOW, &haste.modes);
}

void cp_screen_size(struct cp_screen *s, unsigned *rows_ret, unsigned *columns_ret)
{
	struct winsize size = { 0 };
	int rows, columns;

	bool told = !ioctl(fileno(s->out), TIOCGWINSZ, &size) && size.ws_row && size.ws_col;

	/* ncurses has numbers of 16 bits for a screen, and a screen of them all is none. */
	size.ws_row = size.ws_row < MOST_ROWS ? size.ws_row : MOST_ROWS;
	size.ws_col = size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
	if (told && (size.ws_row != getmaxy(stdscr) || size.ws_col != getmaxx(stdscr)))
		resizeterm(size.ws_row, size.ws_col);
	getmaxyx(stdscr, rows, columns);
	*rows_ret = rows > 0 ? (unsigned)rows : 0;
	*columns_ret = columns > 0 ? (unsigned)columns : 0;
}

/* ---- drawing ---- */

static void set_paint(enum cp_paint paint, bool reverse)
{
	attr_t attributes = reverse ? A_REVERSE : A_NORMAL;
	short pair = 0;

	if (paint == CP_PAINT_BOLD || paint == CP_PAINT_TITLE || paint == CP_PAINT_HOT)
		attributes |= A_BOLD;
	if (paint == CP_PAINT_DIM && !reverse)
		attributes |= A_DIM;
	if (has_colors() && paint > CP_PAINT_DIM && !reverse)
		pair = (short)paint;
	attr_set(attributes, pair, NULL);
}

static void show_text(const struct cp_screen *s, const char *text, size_t size)
{
	struct cp_buf ascii = { 0 };

	if (s->ascii) {
		cp_text_to_ascii(&ascii, text, size);
		text = ascii.bytes;
		size = ascii.size;
	}
	if (text && size)
		addnstr(text, (int)size);
	cp_buf_free(&ascii);
}

static void show_line(const struct cp_screen *s, const struct cp_frame_line *line, int row)
{
	const struct cp_frame_part *part;
	size_t at = 0;

	move(row, 0);
	cp_vec_for_each(&line->parts, part) {
		set_paint(CP_PAINT_PLAIN, line->reverse);
		show_text(s, line->text.bytes + at, part->from - at);
		set_paint(part->paint, line->reverse);
		show_text(s, line->text.bytes + part->from, part->to - part->from);
		at = part->to;
	}
	set_paint(CP_PAINT_PLAIN, line->reverse);
	if (line->text.size > at)
		show_text(s, line->text.bytes + at, line->text.size - at);
}

void cp_screen_show(struct cp_screen *s, const struct cp_frame *f)
{
	unsigned i;

	if (haste.fd < 0)
		return;
	attr_set(A_NORMAL, 0, NULL);
	erase();
	for (i = 0; i < f->used; i++)
		show_line(s, &f->lines[i], (int)i);
	refresh();
}

void cp_screen_redraw(struct cp_screen *s)
{
	(void)s;
	clearok(stdscr, true);
}

/* ---- keys ---- */

int cp_screen_key(struct cp_screen *s)
{
	static const struct {
		int theirs, ours;
	} keys[] = { { ERR, CP_KEY_NONE },
		     { '\r', CP_KEY_ENTER },
		     { '\n', CP_KEY_ENTER },
		     { KEY_ENTER, CP_KEY_ENTER },
		     { '\b', CP_KEY_BACKSPACE },
		     { 127, CP_KEY_BACKSPACE },
		     { KEY_BACKSPACE, CP_KEY_BACKSPACE },
		     { KEY_UP, CP_KEY_UP },
		     { KEY_DOWN, CP_KEY_DOWN },
		     { KEY_LEFT, CP_KEY_LEFT },
		     { KEY_RIGHT, CP_KEY_RIGHT },
		     { KEY_PPAGE, CP_KEY_PAGE_UP },
		     { KEY_NPAGE, CP_KEY_PAGE_DOWN },
		     { KEY_HOME, CP_KEY_HOME },
		     { KEY_END, CP_KEY_END },
		     { '\t', CP_KEY_TAB },
		     { 12, CP_KEY_REDRAW },
		     { KEY_RESIZE, CP_KEY_REDRAW } };
	int key = haste.fd < 0 ? ERR : wgetch(stdscr);
	size_t i;

	(void)s;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].theirs == key)
			return keys[i].ours;
	if (key > KEY_F0 && key <= KEY_F(12))
		return CP_KEY_F + (key - KEY_F0);
	return key < 256 ? key : 0;
}
