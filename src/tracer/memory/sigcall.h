/* SPDX-License-Identifier: MIT
 *
 * System calls about signals that go by way of our code: jumps in the place of their
 * breakpoints. Why, says sigmask.c.
 */
#ifndef CP_TRACER_SIGCALL_H
#define CP_TRACER_SIGCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct area;
struct cp_regs;
struct site;
struct space;

/* The code for system calls about signals, for areas of the space, which has one at least;
 * there is room for CP_AREA_HEAD - CP_AREA_SIGCALL bytes. 0: there is none. */
size_t sigcall_code(const struct space *space, uint8_t *to);
/* Puts the jump of a site where its instruction stands: while nobody runs. False: there
 * can be none, or something else stands there. */
bool sigcall_jump(const struct space *space, const struct site *site);
/* And of all that got breakpoints while somebody ran. */
void sigcall_jump_all(const struct space *space);
/* Breakpoints in the place of the jumps. */
void sigcall_unjump(const struct space *space);
/* The instructions again, with no breakpoint in between: while nobody runs. */
void sigcall_put_back(const struct space *space);
bool sigcall_jumps(const struct space *space, const struct site *site);
/* The site by way of which a thread came to that code; NULL: it is not there. Its
 * registers are put to before or behind the call, pc in *pc_ret. */
struct site *sigcall_site(const struct space *space, struct cp_regs *regs, uint64_t *pc_ret,
			  bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size));

#endif
