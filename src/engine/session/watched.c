/* SPDX-License-Identifier: MIT */
#include "engine/session/watched.h"

#include "engine/target/state.h"

cprof_status cprof_session_watch(cprof_session *s, int fd, cprof_readable_fn cb, void *data)
{
	struct engine_watched one = { .fd = fd, .cb = cb, .data = data }, *w;

	if (!s || fd < 0)
		return CPROF_E_INVALID_ARGUMENT;
	cp_vec_for_each(&s->steered.watched, w)
		if (w->fd == fd && w->cb) {
			*w = one;
			return CPROF_OK;
		}
	if (!cb)
		return CPROF_E_NOT_FOUND;
	cp_vec_for_each(&s->steered.watched, w)
		if (!w->cb) {
			*w = one;
			return CPROF_OK;
		}
	if (s->steered.watched.count == ENGINE_WATCHED_MAX ||
	    !cp_vec_push(&s->steered.watched, one))
		return CPROF_E_OUT_OF_MEMORY;
	return CPROF_OK;
}

nfds_t engine_watched_add(const cprof_session *s, struct pollfd *fds)
{
	size_t i;

	for (i = 0; s->steered.runs && i < s->steered.watched.count; i++)
		fds[i] = (struct pollfd){
			.fd = s->steered.watched.items[i].cb ? s->steered.watched.items[i].fd : -1,
			.events = POLLIN,
		};
	return i;
}

void engine_watched_see(cprof_session *s, const struct pollfd *fds)
{
	size_t i;

	for (i = 0; s->steered.runs && i < s->steered.watched.count; i++)
		s->steered.watched.items[i].ready = fds[i].revents;
}

/* A callback may end its own watch, or begin another one. */
void engine_watched_tell(cprof_session *s)
{
	struct engine_watched w;
	size_t i;

	for (i = 0; i < s->steered.watched.count; i++) {
		w = s->steered.watched.items[i];
		s->steered.watched.items[i].ready = false;
		if (w.ready && w.cb)
			w.cb(s, w.fd, w.data);
	}
}
