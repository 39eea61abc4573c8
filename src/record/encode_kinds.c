/* SPDX-License-Identifier: MIT */
#include "record/encode_kinds.h"

const struct cp_record_encode_kind cp_record_encode_kinds[] = {
	{ cp_record_put_samples, cp_record_samples_free },
	{ cp_record_put_calls, cp_record_calls_free },
	{ cp_record_put_blocks, cp_record_blocks_free },
	{ cp_record_put_annotations, cp_record_annotating_free },
	{ cp_record_put_coverage, cp_record_covering_free },
	{ cp_record_put_lives, cp_record_lives_free },
	{ cp_record_put_sums, cp_record_sums_free },
	{ cp_record_put_enclosed, cp_record_enclosing_free },
	{ NULL, NULL },
};
