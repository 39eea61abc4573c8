/* SPDX-License-Identifier: MIT */
#include "probe/sequences.h"

#include <linux/rseq.h>

#define SEQUENCES_MAX 65536
#define LONG_MAX_BYTES 65536 /* a longer one is none */

static bool add(struct cp_image *image, struct cp_vaddr at, struct cp_probe_functions *to)
{
	struct rseq_cs cs;
	struct cp_probe_range range;

	if (cp_image_read_initial(image, at, &cs, sizeof(cs)) < sizeof(cs) || !cs.start_ip ||
	    !cs.post_commit_offset || cs.post_commit_offset > LONG_MAX_BYTES)
		return true;
	range = (struct cp_probe_range){ cs.start_ip, cs.start_ip + cs.post_commit_offset };
	return cp_vec_push(&to->sequences, range);
}

bool cp_probe_sequences_read(struct cp_image *image, struct cp_probe_functions *to)
{
	const uint8_t *bytes;
	struct cp_vaddr at;
	size_t size, i;

	if (!cp_image_section(image, "__rseq_cs", &bytes, &size, &at))
		return true;
	for (i = 0; i < size / sizeof(struct rseq_cs) && i < SEQUENCES_MAX; i++)
		if (!add(image, (struct cp_vaddr){ at.v + i * sizeof(struct rseq_cs) }, to))
			return false;
	return true;
}

bool cp_probe_in_sequence(const struct cp_probe_functions *functions, uint64_t address,
			  uint64_t size)
{
	const struct cp_probe_range *s;

	if (functions)
		cp_vec_for_each(&functions->sequences, s)
			if (address < s->end && address + size > s->start)
				return true;
	return false;
}
