/* SPDX-License-Identifier: MIT */
#include "transcript/look.h"

static const char *escape_for(enum cp_paint paint)
{
	switch (paint) {
	case CP_PAINT_BOLD:
		return "\033[1m";
	case CP_PAINT_DIM:
		return "\033[2m";
	case CP_PAINT_HOT:
		return "\033[1;31m";
	case CP_PAINT_WARM:
		return "\033[33m";
	case CP_PAINT_COOL:
		return "\033[32m";
	case CP_PAINT_NAME:
		return "\033[36m";
	case CP_PAINT_TITLE:
		return "\033[1;34m";
	case CP_PAINT_WARNING:
		return "\033[1;33m";
	case CP_PAINT_PLAIN:
		break;
	}
	return "";
}

void cp_paint_begin(struct cp_buf *out, const struct cp_look *look, enum cp_paint paint)
{
	if (look->color && paint != CP_PAINT_PLAIN)
		cp_buf_str(out, escape_for(paint));
}

void cp_paint_end(struct cp_buf *out, const struct cp_look *look, enum cp_paint paint)
{
	if (look->color && paint != CP_PAINT_PLAIN)
		cp_buf_str(out, "\033[0m");
}

void cp_paint(struct cp_buf *out, const struct cp_look *look, enum cp_paint paint, const char *text)
{
	cp_paint_begin(out, look, paint);
	cp_buf_str(out, text);
	cp_paint_end(out, look, paint);
}
