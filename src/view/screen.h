/* SPDX-License-Identifier: MIT
 *
 * A terminal that is drawn on: the one place that knows ncurses. One thread at a time.
 */
#ifndef CP_VIEW_SCREEN_H
#define CP_VIEW_SCREEN_H

#include "view/frame.h"

/* Keys that are no characters. */
enum cp_key {
	CP_KEY_NONE = -1,
	CP_KEY_ESCAPE = 27,
	CP_KEY_ENTER = 0x200000,
	CP_KEY_BACKSPACE,
	CP_KEY_UP,
	CP_KEY_DOWN,
	CP_KEY_LEFT,
	CP_KEY_RIGHT,
	CP_KEY_PAGE_UP,
	CP_KEY_PAGE_DOWN,
	CP_KEY_HOME,
	CP_KEY_END,
	CP_KEY_TAB,
	CP_KEY_REDRAW, /* Ctrl-L */
	CP_KEY_F, /* F1 is CP_KEY_F + 1, and so on up to F12 */
};

struct cp_screen;

/* Does the terminal of $TERM at `fd` know how to be drawn on? */
bool cp_screen_can(int fd);
/* Takes the terminal at `fd`, which must stay open: for keys, too. NULL: it can't be had. */
struct cp_screen *cp_screen_open(int fd, bool color, bool ascii);
/* Gives it back as it was. NULL is fine. */
void cp_screen_close(struct cp_screen *s);
/* The same in haste, from a signal handler: nothing more is drawn. Where there is no screen,
 * nothing is done. */
void cp_screen_abandon(void);

/* Asks for its size, which may have changed. */
void cp_screen_size(struct cp_screen *s, unsigned *rows_ret, unsigned *columns_ret);
void cp_screen_show(struct cp_screen *s, const struct cp_frame *f);
/* All of it anew, whatever others wrote there. */
void cp_screen_redraw(struct cp_screen *s);
/* The next key that was pressed: a byte of a character, or an enum cp_key. */
int cp_screen_key(struct cp_screen *s);

#endif
