/* SPDX-License-Identifier: MIT
 *
 * What the program announced, as trace events.
 */
#ifndef CP_REPORT_CHROME_ANNOTATIONS_H
#define CP_REPORT_CHROME_ANNOTATIONS_H

#include "base/error.h"
#include "report/export/chrome_events.h"

/* Names of what has no thread of its own, then all events. */
CP_ERROR cp_chrome_annotations(struct cp_chrome *c);

#endif
