"""How the house is built: its rooms, and the floors of those that have some. For
scripts/check-layers (includes) and scripts/check-circles (calls)."""

# What each room may use besides itself; include/cprof is open to all.
BELOW = {
    "src/base": [],
    "arch": ["src/base"],
    "src/control": ["src/base"],
    "src/link": ["src/base", "arch"],
    "src/tracer": ["src/base", "arch", "src/link"],
    "src/image": ["src/base", "arch"],
    "src/probe": ["src/base", "arch", "src/link", "src/image"],
    "src/unwind": ["src/base", "arch", "src/image"],
    "src/detour": ["src/base", "arch", "src/image", "src/probe", "src/unwind"],
    "src/inspect": ["src/base", "arch", "src/link", "src/image", "src/unwind"],
    "src/engine": ["src/base", "arch", "src/link", "src/tracer", "src/image", "src/probe", "src/detour",
                   "src/unwind", "src/inspect"],
    "src/record": ["src/base"],
    "src/transcript": ["src/base"],
    "src/live": ["src/base"],
    "src/modules": ["src/base", "src/control", "src/record", "src/transcript", "src/live"],
    "src/report": ["src/base", "src/record", "src/transcript", "src/inspect"],
    "src/view": ["src/base", "src/live", "src/record", "src/transcript", "src/report"],
    "src/cmd": ["src/base", "arch", "src/control", "src/link", "src/tracer", "src/image", "src/probe", "src/unwind",
                "src/detour", "src/inspect", "src/engine", "src/record", "src/transcript", "src/live", "src/modules", "src/report",
                "src/view"],
}

# The floors of a room, the lowest first: a file uses those of its own floor and of the
# floors below. A floor is a list of what stands on it, by its path within the room:
# "target/" is a folder, and "ring" stands for ring.c and ring.h. A room that is listed
# has a place for each of its files.
FLOORS = {
    "src/engine": [["target/"], ["frames/"], ["probes/"], ["calls/"], ["families/"], ["api/"], ["session/"]],
    "src/tracer": [["restore", "known/"], ["memory/"], ["calls/"], ["signals/"], ["captures/"], ["hits/"], ["lives/"],
                   ["stops/"], ["idle", "leave", "progress", "tracer"]],
    "src/probe": [["names", "functions", "sequences", "ldcache", "trace_ring", "shadow", "shadow_state"],
                  ["distance", "code", "libraries", "shadow_fork", "shadow_plain"],
                  ["spec", "library_calls"], ["match", "plan"], ["inlined", "blocks"], ["near", "overlap"], ["preview"]],
    "src/detour": [["text", "base"], ["table", "window"], ["plan", "space"], ["object", "points"]],
    "src/unwind": [["unwind", "dwarf", "entry", "expr"], ["program", "lsda"], ["cfi", "index"], ["table", "pads"], ["space"],
                   ["apply", "code"], ["step"], ["guess", "by_libunwind", "paths"], ["walk"]],
    "src/inspect": [["inspect", "gaps", "made_types", "place", "classify", "readable", "shapes", "shape_rows", "shapes_cplusplus", "shapes_libcxx", "shapes_rust"],
                    ["classify_aapcs64", "classify_rust", "classify_sysv", "signature"],
                    ["locate", "plan", "build"], ["stored", "sets", "bytes", "scalar", "shape_units", "wide", "notes", "member_pointers"],
                    ["rust", "value", "shape_values"],
                    ["variadic", "exits"], ["uses"], ["read", "values", "form", "form_trial", "frame"], ["declared", "declared/"],
                    ["changes", "copy", "lacks", "print", "print_lines", "spelling", "thread_locals", "entered"],
                    ["condition", "condition_names", "condition_parse"],
                    ["thing"], ["statics", "dynamic", "traits"], ["bases"], ["members", "number", "registers", "scope"], ["type_names"], ["outer_names"], ["condition_tests", "condition_way", "chosen"], ["evaluate"],
                    ["shape_terms"], ["shape_walk"], ["shape_build"], ["shape_ops", "shape_file", "shape_layout", "plan_shapes"]],
    "src/control": [["control", "place", "port"], ["client", "server"]],
    "src/link": [["code", "coverage", "fetch", "gone", "link", "map", "perf", "sites", "stats"], ["channel", "records", "records_plain", "ring"]],
    "src/report": [["look/"], ["profile/"], ["coverage/", "events/"], ["tables/"], ["export/", "replay/"]],
    "src/transcript": [["look"], ["transcript"], ["calls", "invoker", "json"]],
    "src/modules": [["modules", "settings", "invoked", "costs", "log/recorder"], ["log/numbers", "log/taker", "log/known"],
                    ["log/callspec", "log/call_blocks", "log/choosing", "log/disarmed", "log/marks", "log/port", "log/stack", "log/summary"],
                    ["log/families", "log/families/"],
                    ["log/output", "log/verbose"], ["log/writing"], ["log/rotate"], ["log/commands", "log/mono"], ["log/log"],
                    ["calls", "calls_json", "coverage", "live/", "order", "stacks"], ["builtins"]],
}


def room_of(path):
    """The room of a file, given from the root of the repository; None: it is in none."""
    return next((room for room in BELOW if path.startswith(room + "/")), None)


def floor_of(path):
    """The number of a file's floor, from 0; None: the room has none, or not listed it."""
    room = room_of(path)
    if room is None:
        return None
    inside = path[len(room) + 1 :]
    for number, floor in enumerate(FLOORS.get(room, [])):
        for place in floor:
            if inside.startswith(place) if place.endswith("/") else inside.rsplit(".", 1)[0] == place:
                return number
    return None


def floor_name(room, number):
    """For people: what stands on a floor."""
    return " ".join(place.rstrip("/") for place in FLOORS[room][number])
