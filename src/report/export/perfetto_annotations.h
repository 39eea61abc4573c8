/* SPDX-License-Identifier: MIT
 *
 * What the program announced, on tracks.
 */
#ifndef CP_REPORT_PERFETTO_ANNOTATIONS_H
#define CP_REPORT_PERFETTO_ANNOTATIONS_H

#include "base/error.h"
#include "report/export/perfetto_packets.h"

CP_ERROR cp_perfetto_annotations(struct cp_perfetto *w);

#endif
