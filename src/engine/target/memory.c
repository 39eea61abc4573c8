/* SPDX-License-Identifier: MIT
 *
 * Memory of a process, as the program has it: without breakpoints.
 */
#include "engine/target/memory.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "engine/target/above.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "engine/target/tasks.h"

static size_t read_memory(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	cprof_process *p = ctx;
	ssize_t n;

	if (p->memory_over)
		return 0;
	if (p->memory_fd < 0 && p->session->memory_late)
		engine_open_memory(p);
	n = pread64(p->memory_fd, buffer, size, (off64_t)addr);
	p->memory_over = n == 0 && size; /* what is not mapped is an error */
	if (n > 0)
		p->session->above->read(p, addr, buffer, (size_t)n);
	return n > 0 ? (size_t)n : 0;
}

/* Reads code and call frame information as they are in memory, and where that is gone
 * with an exec or the process, as they are in the file. */
static size_t read_code(void *ctx, uint64_t address, void *buffer, size_t size)
{
	cprof_process *p = ctx;
	size_t done = read_memory(p, address, buffer, size), i;

	for (i = 0; !done && i < p->images.count; i++) {
		const cprof_image *image = p->images.items[i];

		if ((image->mapped || image->armed) && image->assembly->image &&
		    address >= image->start && address < image->last)
			done = cp_image_read_constant(image->assembly->image,
						      (struct cp_vaddr){ address - image->bias },
						      buffer, size);
	}
	return done;
}

void engine_memory_begin(cprof_process *p)
{
	p->memory_fd = -1;
	p->memory = (struct cp_reader){ read_memory, p };
	p->code = (struct cp_reader){ read_code, p };
}

bool engine_open_memory(cprof_process *p)
{
	struct cp_request rq = { .type = CP_REQUEST_MEMORY, .pid = p->pid };
	struct cp_answer answer;
	struct cp_error *err;

	if (p->memory_fd >= 0)
		return true;
	if (p->memory_failed)
		return false;
	p->memory_over = false;
	err = cp_link_call(&p->session->link, &rq, &answer, &p->memory_fd);
	p->memory_failed = err || answer.errnum || p->memory_fd < 0;
	cp_error_free(err);
	if (!p->memory_failed && engine_is_replaced(p)) { /* the memory is another program's */
		cp_close_fd(&p->memory_fd);
		p->memory_fd = -1;
		return false;
	}
	return !p->memory_failed;
}
