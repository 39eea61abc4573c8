/* SPDX-License-Identifier: MIT
 *
 * cprof/inspect.h, of tests/modules/inspected.cpp: while Counter::takes() is held it prints
 * places as the program does, values, layouts, and how often a status was not the right one.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned wrong;

static void expect(const char *what, cprof_status got, cprof_status wanted)
{
	if (got == wanted)
		return;
	printf("%s: %s, not %s\n", what, cprof_status_string(got), cprof_status_string(wanted));
	wrong++;
}

static void evaluate(const char *expression, cprof_call_context *context, cprof_status wanted)
{
	cprof_evaluated e;
	char text[400] = "";

	expect(expression, cprof_evaluate(expression, context, &e), wanted);
	if (e.value)
		cprof_value_format(text, sizeof(text), e.value);
	printf("%s = %s%s\n", expression, text, e.message ? e.message : "");
	wrong += wanted == CPROF_OK && !e.value;
}

static void statics(void)
{
	static const struct {
		const char *name;
		cprof_static_kind kind;
	} all[] = { { "global", CPROF_STATIC_PROCESS },
		    { "of_file", CPROF_STATIC_PROCESS },
		    { "of_thread", CPROF_STATIC_THREAD },
		    { "ns::Derived::made", CPROF_STATIC_MEMBER },
		    { "calls()::number", CPROF_STATIC_FUNCTION } };
	cprof_static_kind kind;
	cprof_object o;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		expect(all[i].name, cprof_static_object(NULL, all[i].name, NULL, &o, &kind),
		       CPROF_OK);
		printf("at %s %#" PRIx64 " %" PRIu64 "\n", all[i].name, o.address, o.size);
		wrong += kind != all[i].kind || strcmp(o.type_name, "int") != 0;
	}
	expect("late", cprof_static_object(NULL, "late()::one", NULL, &o, &kind),
	       CPROF_E_DATA_INCOMPLETE);
	wrong += !o.address || kind != CPROF_STATIC_FUNCTION;
	expect("literal", cprof_static_object(NULL, "Counter::literal", NULL, &o, NULL),
	       CPROF_E_LITERALS_HAVE_NO_ADDRESS);
	expect("none", cprof_static_object(NULL, "no_such_thing", NULL, &o, NULL),
	       CPROF_E_NOT_FOUND);
	expect("NULL", cprof_static_object(NULL, NULL, NULL, &o, NULL), CPROF_E_INVALID_ARGUMENT);
}

/* What an expression stands for. */
/* Of one that is the only one of its name, the same is said when it is asked for. */
static bool on_static(const cprof_static *v, void *data)
{
	cprof_static_kind kind = CPROF_STATIC_PROCESS;
	cprof_object o = { 0 };
	cprof_status status;

	printf("static %s\n", v->name);
	if (!data)
		return true;
	status = cprof_static_object(data, v->name, NULL, &o, &kind);
	expect(v->name, v->status, status);
	wrong += v->kind != kind || v->object.address != o.address || v->object.type != o.type;
	return true;
}

static bool on_first(const cprof_static *v, void *data)
{
	wrong += strncmp(v->name, "ns::", 4) != 0;
	++*(unsigned *)data;
	return false;
}

static void all_statics(const cprof_image *image)
{
	unsigned first = 0;

	expect("all", cprof_for_each_static(image, NULL, NULL, on_static, (void *)image), CPROF_OK);
	expect("first", cprof_for_each_static(NULL, "ns::*", NULL, on_first, &first), CPROF_OK);
	wrong += first != 1;
	expect("no fn", cprof_for_each_static(image, NULL, NULL, NULL, NULL),
	       CPROF_E_INVALID_ARGUMENT);
}

static cprof_object object(const char *expression)
{
	cprof_evaluated e;

	expect(expression, cprof_evaluate(expression, NULL, &e), CPROF_OK);
	return e.object;
}

static void objects(void)
{
	static const char *const bases[] = { "base", "other", "through", "templated" };
	static const char *const rows[] = { "numbers", "row", "text", "letters" };
	static const char *const boxes[] = { "unique", "shared", "maybe", "counter", "either" };
	cprof_object o, found;
	uint64_t count;
	char text[40];
	size_t i;

	for (i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "*%s", bases[i]);
		o = object(text);
		expect(text, cprof_object_dynamic(&o, &found), CPROF_OK);
		printf("whole %s %#" PRIx64 " %s\n", bases[i], found.address, found.type_name);
	}
	o = object("plain");
	expect("plain", cprof_object_dynamic(&o, &found), CPROF_E_NOT_SUPPORTED);
	expect("plain", cprof_object_held(&o, &found), CPROF_E_NOT_FOUND);
	expect("plain", cprof_object_elements(&o, &found, &count), CPROF_E_NOT_FOUND);
	o = object("*base");
	o.address = 8;
	expect("nowhere", cprof_object_dynamic(&o, &found), CPROF_E_UNREADABLE);
	o.address = object("first").address;
	expect("astray", cprof_object_dynamic(&o, &found), CPROF_E_NOT_FOUND);
	for (i = 0; i < 4; i++) {
		o = object(rows[i]);
		expect(rows[i], cprof_object_elements(&o, &found, &count), CPROF_OK);
		printf("elements %s %#" PRIx64 " %" PRIu64 "\n", rows[i], found.address, count);
	}
	for (i = 0; i < 5; i++) {
		o = object(boxes[i]);
		expect(boxes[i], cprof_object_held(&o, &found), CPROF_OK);
		printf("held %s %#" PRIx64 " %" PRIu64 "\n", boxes[i], found.address, found.size);
	}
	o = object("nothing");
	expect("nothing", cprof_object_held(&o, &found), CPROF_E_DATA_INCOMPLETE);
	o = object("empty");
	expect("empty", cprof_object_held(&o, &found), CPROF_E_DATA_INCOMPLETE);
}

/* A word of an object. */
static uint64_t word(const cprof_object *o, uint64_t offset)
{
	uint64_t value = 0;
	size_t done;

	cprof_read_memory(cprof_current_process(), o->address + offset, &value, sizeof(value),
			  &done);
	return value;
}

/* Places by layouts are those that objects say. */
static void layouts(void)
{
	cprof_object o, found;
	cprof_string_layout s;
	cprof_array_layout a;
	cprof_box_layout b;
	uint64_t count;

	o = object("text");
	expect("text", cprof_type_string_layout(o.type, &s), CPROF_OK);
	cprof_object_elements(&o, &found, &count);
	wrong += !s.indirect || !s.terminated || word(&o, s.buffer_offset) != found.address ||
		 word(&o, s.length_offset) != count || cprof_type_size(s.character) != 1;
	o = object("view");
	expect("view", cprof_type_string_layout(o.type, &s), CPROF_OK);
	wrong += !s.indirect || s.terminated || word(&o, s.buffer_offset) != found.address ||
		 word(&o, s.length_offset) != count;
	expect("letters", cprof_type_string_layout(object("letters").type, &s), CPROF_OK);
	wrong += s.indirect || s.buffer_offset || s.length != 20 ||
		 s.length_offset != CPROF_NO_OFFSET;
	expect("pointer", cprof_type_string_layout(object("pointer").type, &s), CPROF_OK);
	wrong += !s.indirect || s.length || !s.terminated;
	expect("numbers", cprof_type_string_layout(object("numbers").type, &s), CPROF_E_NOT_FOUND);
	o = object("numbers");
	expect("numbers", cprof_type_array_layout(o.type, &a), CPROF_OK);
	cprof_object_elements(&o, &found, &count);
	wrong += !a.indirect || !a.ended || word(&o, a.data_offset) != found.address ||
		 word(&o, a.count_offset) != found.address + count * cprof_type_size(a.element);
	expect("row", cprof_type_array_layout(object("row").type, &a), CPROF_OK);
	wrong += a.indirect || a.count != 4 || cprof_type_size(a.element) != 2;
	o = object("unique");
	expect("unique", cprof_type_box_layout(o.type, &b), CPROF_OK);
	cprof_object_held(&o, &found);
	wrong += !b.indirect || word(&o, b.offset) + b.behind != found.address ||
		 strcmp(cprof_type_name(b.type), "Plain") != 0;
	o = object("maybe");
	expect("maybe", cprof_type_box_layout(o.type, &b), CPROF_OK);
	cprof_object_held(&o, &found);
	wrong += b.indirect || o.address + b.offset != found.address ||
		 (uint8_t)word(&o, b.flag_offset) != 1;
	o = object("nothing");
	wrong += (uint8_t)word(&o, b.flag_offset) != 0;
	expect("either", cprof_type_box_layout(object("either").type, &b), CPROF_E_NOT_SUPPORTED);
	expect("plain", cprof_type_box_layout(object("plain").type, &b), CPROF_E_NOT_FOUND);
	expect("NULL", cprof_type_array_layout(NULL, &a), CPROF_E_NOT_FOUND);
}

static cprof_walk on_frame(const cprof_function *function, cprof_addr ip,
			   const cprof_frame_info *frame, size_t size, const cprof_context *context,
			   void *data)
{
	const char *name = cprof_frame_info_name(frame);
	cprof_call_context *in = cprof_frame_info_call_context(frame);

	(void)ip;
	(void)size;
	(void)context;
	(void)data;
	if (!name && function)
		name = cprof_function_name(function);
	if (!name || strncmp(name, "main", 4) != 0)
		return CPROF_WALK_CONTINUE;
	evaluate("c.own", in, CPROF_OK);
	evaluate("*number", in, CPROF_OK);
	evaluate("$rip != 0", in, CPROF_OK);
	return CPROF_WALK_ABORT;
}

static void on_takes(cprof_profiler *prof, const cprof_function *function,
		     cprof_call_context *context)
{
	(void)prof;
	statics();
	all_statics(cprof_function_image(function));
	objects();
	layouts();
	evaluate("list->next->value", context, CPROF_OK);
	evaluate("n + global", context, CPROF_OK);
	evaluate("main == &main", context, CPROF_OK);
	evaluate("own", context, CPROF_OK);
	evaluate("this->own", context, CPROF_OK);
	evaluate("numbers[1]", NULL, CPROF_OK);
	evaluate("numbers[0..1]", NULL, CPROF_OK);
	evaluate("text == \"a text\"", NULL, CPROF_OK);
	evaluate("\"x\"", NULL, CPROF_OK);
	evaluate("sizeof(struct node)", NULL, CPROF_OK);
	evaluate("Counter::literal", NULL, CPROF_OK);
	evaluate("late()::one", NULL, CPROF_E_DATA_INCOMPLETE);
	evaluate("*(int *)8", NULL, CPROF_E_UNREADABLE);
	evaluate("list", NULL, CPROF_E_NOT_FOUND);
	evaluate("1 +", NULL, CPROF_E_INVALID_ARGUMENT);
	cprof_do_stack_snapshot(cprof_current_thread(), on_frame, CPROF_SNAPSHOT_DEFAULT, NULL,
				NULL, 0);
}

static void on_end(cprof_profiler *prof)
{
	(void)prof;
	printf("wrong %u\n", wrong);
}

CPROF_PROFILER_INIT(inspectprobe)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);

	wrong += !cprof_profiler_enable_call_context_introspection();
	cprof_profiler_trace(handle, cprof_callspec_parse("Counter::takes", NULL),
			     CPROF_CALL_INSTRUMENTATION_ENTER |
				     CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
				     CPROF_CALL_INSTRUMENTATION_HOLD);
	cprof_profiler_set_method_enter_callback(handle, on_takes);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, on_end);
}
