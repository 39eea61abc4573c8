/* SPDX-License-Identifier: MIT
 *
 * A flame graph as a picture.
 */
#ifndef CP_REPORT_PICTURE_H
#define CP_REPORT_PICTURE_H

#include "base/error.h"
#include "report/export/flame.h"
#include "report/look/sink.h"

/* Writes the frames as shapes of SVG. */
CP_ERROR cp_flame_draw(const struct cp_flame *f, unsigned top, struct cp_sink *sink);

#endif
