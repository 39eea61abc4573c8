/* connects: who connects where, in any program, stripped ones too.
 *   cprof attach --profile=connects PID */
#include <cprof/cprof.h>
#include <arpa/inet.h>
#include <string.h>
#include <sys/un.h>

static cprof_profiler_handle connects;
static int where; /* what is copied of each call */

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	size_t size;
	const void *address = cprof_call_context_fetched(context, where, &size);
	const struct sockaddr_in *in = address;
	const struct sockaddr_in6 *in6 = address;
	char text[INET6_ADDRSTRLEN + 110] = "?";

	if (size >= sizeof(*in) && in->sin_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
	else if (size >= sizeof(*in6) && in->sin_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
	else if (size > sizeof(sa_family_t) && in->sin_family == AF_UNIX)
		strncpy(text, ((const struct sockaddr_un *)address)->sun_path, size - sizeof(sa_family_t));
	cprof_profiler_printf(connects, "%s to %s port %d", cprof_thread_name(cprof_current_thread()), text,
			      address && in->sin_family != AF_UNIX ? ntohs(in->sin_port) : 0);
}

CPROF_PROFILER_INIT(connects)
{
	const cprof_fetch bytes = { .kind = CPROF_FETCH_BYTES, .argument = 1, .size = sizeof(struct sockaddr_un) };
	cprof_callspec *spec = cprof_callspec_parse("connect@libc.so.6", NULL);

	connects = cprof_profiler_create(NULL);
	cprof_profiler_trace(connects, spec, CPROF_CALL_INSTRUMENTATION_ENTER);
	where = cprof_profiler_fetch(connects, spec, &bytes);
	cprof_profiler_set_method_enter_callback(connects, entered);
}
