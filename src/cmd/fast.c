/* SPDX-License-Identifier: MIT */
#include "cmd/fast.h"

#include "detour/base.h"

const char *cp_slow_word(unsigned slow)
{
	static const char *const words[CP_SLOWS] = {
		[CP_FAST] = "yes",
		[CP_DETOUR_WHY_SITES] = "exits",
		[CP_DETOUR_WHY_COMPUTED] = "jump",
		[CP_DETOUR_WHY_ENTRY_SHORT] = "short",
		[CP_DETOUR_WHY_ENTRY_LEADS] = "target",
		[CP_DETOUR_WHY_ENTRY_FIXED] = "fixed",
		[CP_DETOUR_WHY_EXIT_SHORT] = "short",
		[CP_DETOUR_WHY_EXIT_LEADS] = "target",
		[CP_DETOUR_WHY_EXIT_FIXED] = "fixed",
		[CP_DETOUR_WHY_TAKEN] = "taken",
		[CP_DETOUR_WHY_FAR] = "far",
		[CP_SLOW_UNTRACED] = "no",
		[CP_SLOW_LIBRARY] = "library",
		[CP_SLOW_CHOSEN] = "chosen",
		[CP_SLOW_ARCH] = "arch",
		[CP_SLOW_BASE] = "gs",
	};

	return words[slow];
}

const char *cp_slow_text(unsigned slow)
{
	switch (slow) {
	case CP_FAST:
		return "";
	case CP_SLOW_UNTRACED:
		return "it is not traced";
	case CP_SLOW_LIBRARY:
		return "calls of library functions are seen where they are made";
	case CP_SLOW_CHOSEN:
		return "which function it is gets chosen when the program starts";
	case CP_SLOW_ARCH:
		return "it is code of an instruction set that has no detours";
	case CP_SLOW_BASE:
		return "code of this file uses gs, by which detours find where to write";
	}
	return cp_detour_why_text((enum cp_detour_why)slow);
}

void cp_fast_deinit(struct cp_fast *fast)
{
	cp_detour_object_destroy(fast->object);
	cp_detour_plan_free(&fast->plan);
}

static CP_ERROR read_object(struct cp_fast *fast)
{
	bool has;

	fast->base_used = cp_detour_base_used_by(fast->decoder, fast->image, &has);
	return cp_detour_object_create(fast->arch, fast->decoder, fast->image, fast->functions,
				       &fast->object);
}

/* What stands in the way wherever its code is. */
static unsigned slow_anyway(const struct cp_fast *fast, const struct cp_probe_function *function,
			    const struct cp_probe_plan *sites)
{
	if (fast->arch != &cp_arch_x86_64)
		return CP_SLOW_ARCH;
	if (function->kind == CP_PROBE_PLT)
		return CP_SLOW_LIBRARY;
	if (function->kind == CP_PROBE_IFUNC)
		return CP_SLOW_CHOSEN;
	switch (sites->why) {
	case CP_PROBE_FULL:
	case CP_PROBE_NO_EXIT:
		return sites->entry_count == 1 ? CP_FAST : CP_DETOUR_WHY_SITES;
	case CP_PROBE_BY_RETURN:
		return CP_DETOUR_WHY_SITES;
	case CP_PROBE_REFUSED:
	case CP_PROBE_NO_CODE:
	case CP_PROBE_WITHHELD:
		break;
	}
	return CP_SLOW_UNTRACED;
}

CP_ERROR cp_fast_ask(struct cp_fast *fast, const struct cp_probe_function *function,
		     const struct cp_probe_plan *sites, unsigned *ret)
{
	unsigned slow = slow_anyway(fast, function, sites);

	if (slow == CP_FAST) {
		if (!fast->object)
			CP_TRY(read_object(fast));
		CP_TRY(cp_detour_plan_function(cp_detour_object_planner(fast->object), function,
					       sites, &fast->plan));
		slow = fast->base_used ? CP_SLOW_BASE : fast->plan.why;
	}
	*ret = slow;
	return NULL;
}
