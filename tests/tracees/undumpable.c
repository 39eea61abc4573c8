/* SPDX-License-Identifier: MIT
 *
 * PR_SET_DUMPABLE 0, as password agents do it: its /proc files belong to root,
 * and only CAP_SYS_PTRACE may attach. It must stay so.
 */
#include <sys/prctl.h>

#include "tracee.h"

int main(int argc, char **argv)
{
	uint32_t x = 1;

	tracee_begin("undumpable", argc, argv, (struct tracee_options){ .rounds = 200 });
	TRY(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	while (tracee_more()) {
		x = tracee_mix(x, 50000);
		CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0, "became dumpable");
	}
	return tracee_ok("still not dumpable");
}
