/* SPDX-License-Identifier: MIT
 *
 * The signal is cprof's own: one to the program would be the program's, with its handlers
 * and its interrupted calls. The handler counts, the session's loop does what that means.
 */
#include "cmd/toggling.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/complain.h"
#include "engine/api/profiler.h"
#include "modules/modules.h"

/* The handler's own, for it gets no argument. */
static volatile sig_atomic_t toggled = -1; /* descriptor */

static void on_signal(int signal)
{
	const uint64_t one = 1;
	int saved = errno;
	ssize_t written = write(toggled, &one, sizeof(one));

	(void)signal;
	(void)written; /* it is never full */
	errno = saved;
}

static void say(const char *module, const char *text, void *data)
{
	(void)module;
	(void)data;
	cp_info("%s", text);
}

/* An even number of signals changes nothing. */
static void on_readable(cprof_session *s, int fd, void *data)
{
	struct cp_log_state log;
	uint64_t count;

	(void)data;
	if (read(fd, &count, sizeof(count)) != sizeof(count) || count % 2 == 0)
		return;
	cp_module_log_state(engine_profiler_named(s, "log"), &log);
	cprof_session_steer(s, log.paused ? "resume" : "pause", "", say, NULL);
}

bool cp_toggling_begin(cprof_session *s, unsigned which)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	if (!which)
		return true;
	toggled = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (toggled < 0 || sigaction(which == 1 ? SIGUSR1 : SIGUSR2, &action, NULL)) {
		cp_complain_text("out of descriptors");
		return false;
	}
	cprof_session_watch(s, toggled, on_readable, NULL);
	return true;
}
