/* SPDX-License-Identifier: MIT */
#include "cmd/preparing.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/terminal.h"
#include "engine/api/services.h"
#include "report/look/table.h"

#define COLUMNS 80u /* of a terminal that does not say how wide it is */

/* One that does not fit would be left behind, for it is written again from its own line's
 * beginning. */
static void tell(const char *path, size_t done, size_t of, void *data)
{
	unsigned columns = cp_terminal_of(STDERR_FILENO).columns, room;
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };

	(void)data;
	/* Standard error may be kept from the terminal meanwhile (cmd/keeping.h). */
	if (!cp_terminal_is_drawable(STDERR_FILENO))
		return;
	if (!path) {
		if (write(STDERR_FILENO, "\r\033[K", 4) < 0) {
			/* nobody to tell */
		}
		return;
	}
	path = cp_basename(path);
	cp_escape(&name, CP_ESCAPE_TERMINAL, path, strlen(path));
	if (of) {
		cp_buf_str(&line, "cprof: preparing ");
		cp_add_count(&line, done);
		cp_buf_str(&line, " of ");
		cp_add_count(&line, of);
		cp_buf_str(&line, " functions of ");
	} else {
		cp_buf_str(&line, "cprof: reading symbols of ");
	}
	cp_buf_str(&line, name.bytes ? name.bytes : "");
	room = (columns ? columns : COLUMNS) - 1;
	dprintf(STDERR_FILENO, "\r\033[K%.*s", (int)room, line.bytes ? line.bytes : "");
}

void cp_preparing_show(cprof_session *s, const struct cp_collect_options *o)
{
	if (!o->quiet)
		engine_set_progress(s, tell, NULL);
}
