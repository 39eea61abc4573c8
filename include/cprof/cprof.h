/* SPDX-License-Identifier: MIT
 *
 * cprof/cprof.h - all of cprof's API.
 */
#ifndef CPROF_CPROF_H
#define CPROF_CPROF_H

#include <cprof/blocks.h>
#include <cprof/calls.h>
#include <cprof/control.h>
#include <cprof/coverage.h>
#include <cprof/elt.h>
#include <cprof/events.h>
#include <cprof/fetch.h>
#include <cprof/format.h>
#include <cprof/functions.h>
#include <cprof/heap.h>
#include <cprof/io.h>
#include <cprof/locks.h>
#include <cprof/maps.h>
#include <cprof/module.h>
#include <cprof/process.h>
#include <cprof/profiler.h>
#include <cprof/sampling.h>
#include <cprof/session.h>
#include <cprof/stack.h>
#include <cprof/stacks.h>
#include <cprof/tally.h>
#include <cprof/inspect.h>
#include <cprof/type.h>
#include <cprof/types.h>
#include <cprof/value.h>

#endif
