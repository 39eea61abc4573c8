/* SPDX-License-Identifier: MIT
 *
 * How wrong a sum of estimates may be. What is wrong with them one by one adds up as
 * variances do; what is wrong with all of them alike, as it is. All that is likely; that
 * they take no more than is known of each for certain is a bound.
 */
#ifndef CP_BASE_DOUBT_H
#define CP_BASE_DOUBT_H

#include <math.h>
#include <stdint.h>

struct cp_doubt {
	double variance; /* ns^2 */
	double slant; /* ns */
	double slack; /* ns: so much less at least, for certain */
};

/* Adds that of `count` estimates, each too large by `slack` at most. */
static inline void cp_doubt_add(struct cp_doubt *to, double count, double sigma, double slant,
				double slack)
{
	to->variance += count * sigma * sigma;
	to->slant += count * slant;
	to->slack += count * slack;
}

/* Adds that of the middle of a range, where nothing is known but that: whatever makes it one
 * end here makes it that end the next time. */
static inline void cp_doubt_add_range(struct cp_doubt *to, double range)
{
	to->slant += range / 4;
	to->slack += range / 2;
}

/* Beside a reader, calls by detours took up to so many times as long as in a trial, where nobody
 * read what they wrote; and work that waits for itself (a chain of multiplications, or of loads)
 * hides part of it, all of what is within a call. The least that was seen of programs is more
 * than this; a trial with nothing but such a chain, as long as a detour, had a sixth. */
#define CP_TAKEN_MOST 4
#define CP_TAKEN_LEAST 0.5

/* What a call takes can't be less than known, in ns: recordings have units of 8, and the
 * processor's clock goes on by steps of up to 10. */
#define CP_TIME_FINEST 16u

/* What was taken without a stop: certainly, and how much more it may have been. */
struct cp_taken {
	double ns, range;
};

/* What cprof took of a thread's time so far. */
struct cp_account {
	uint64_t lost_ns; /* by stops */
	uint64_t run_ns; /* its CPU time; 0: not known */
	struct cp_taken taken; /* by detours; 16 bytes that are written, and copied, at once */
	struct cp_doubt doubt; /* about what stops took */
};

/* That of what was added since `then`: the sum is wrong by twice as much at most. */
static inline double cp_doubt_since(const struct cp_doubt *now, const struct cp_doubt *then)
{
	double variance = now->variance - then->variance, slant = now->slant - then->slant;

	return (variance > 0 ? sqrt(variance) : 0) + (slant > 0 ? slant : 0);
}

/* By how much what was added since `then` is too large at most. */
static inline double cp_slack_since(const struct cp_doubt *now, const struct cp_doubt *then)
{
	return now->slack > then->slack ? now->slack - then->slack : 0;
}

#endif
