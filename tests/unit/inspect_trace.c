/* SPDX-License-Identifier: MIT */
#include "inspect_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/personality.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/insn.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

struct function {
	struct cp_symbol symbol;
	struct cp_signature *signature;
	unsigned calls;
};

struct frame {
	struct function *function;
	uint64_t sp, back;
	struct cp_value_arena *arena;
	struct traced_call call;
	/* What was captured at the entry. */
	struct cp_capture capture;
	struct cp_hit_vector vector;
	struct cp_buf fetched;
};

struct session {
	const struct trace_options *options;
	struct cp_image *image;
	pid_t pid;
	int memory;
	uint64_t bias;
	struct function *functions;
	size_t count;
	struct cp_map originals; /* address -> byte under the breakpoint */
	struct cp_map by_address; /* -> index of the function */
	CP_VEC(struct frame) frames;
	uint64_t kept; /* the first argument of the call that ends (CP_FETCH_KEPT) */
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- what the tracer does at a stop ---- */

static size_t read_memory(struct session *s, uint64_t address, void *to, size_t size)
{
	ssize_t n = address ? pread(s->memory, to, size, (off_t)address) : 0;

	return n > 0 ? (size_t)n : 0;
}

static size_t read_string(struct session *s, uint64_t address, uint8_t *to, size_t size)
{
	size_t have = 0, chunk, got;

	while (have < size) {
		chunk = 4096 - ((address + have) & 4095);
		chunk = chunk < size - have ? chunk : size - have;
		got = read_memory(s, address + have, to + have, chunk);
		if (got && memchr(to + have, 0, got))
			return (size_t)((uint8_t *)memchr(to + have, 0, got) - to) + 1;
		have += got;
		if (got < chunk)
			break;
	}
	return have;
}

/* Where the fetch reads; false: it hangs on one that could not be read. */
static bool fetch_address(const struct cp_capture_list *list, const struct cp_fetch *f,
			  const struct cp_regs *regs, const struct cp_buf *out,
			  const size_t *places, uint64_t *ret)
{
	struct cp_fetched block;
	const struct cp_fetch *of;

	if (f->from < CP_FETCH_BLOCK) {
		*ret = regs->r[f->from] + (uint64_t)(int64_t)f->offset;
		return true;
	}
	of = &list->fetches[f->from - CP_FETCH_BLOCK];
	if (of->level >= f->level)
		return false;
	memcpy(&block, out->bytes + places[f->from - CP_FETCH_BLOCK], sizeof(block));
	if ((size_t)f->at + 8 > block.size)
		return false;
	memcpy(ret, out->bytes + places[f->from - CP_FETCH_BLOCK] + sizeof(block) + f->at, 8);
	*ret += (uint64_t)(int64_t)f->offset;
	return true;
}

static void fetch_all(struct session *s, const struct cp_capture_list *list,
		      const struct cp_regs *regs, struct cp_buf *out)
{
	size_t places[256], i;
	struct cp_fetched block;
	uint8_t *bytes;

	for (i = 0; i < list->fetch_count && i < 256; i++) {
		const struct cp_fetch *f = &list->fetches[i];

		block = (struct cp_fetched){ .index = (uint32_t)i };
		bytes = calloc(1, f->size + 8);
		if (f->flags & CP_FETCH_KEPT)
			block.address = s->kept;
		if (f->flags & CP_FETCH_KEPT ||
		    fetch_address(list, f, regs, out, places, &block.address))
			block.size =
				(uint32_t)(f->flags & CP_FETCH_STRING
						   ? read_string(s, block.address, bytes, f->size)
						   : read_memory(s, block.address, bytes, f->size));
		places[i] = out->size;
		cp_buf_add(out, &block, sizeof(block));
		cp_buf_add(out, bytes, cp_align8(block.size));
		free(bytes);
	}
}

static const char *name_of(void *ctx, uint64_t address)
{
	struct session *s = ctx;
	struct cp_symbol symbol;

	if (!cp_image_symbol(s->image, (struct cp_vaddr){ address - s->bias }, &symbol) ||
	    symbol.start.v != address - s->bias)
		return NULL;
	return symbol.name;
}

static void capture(struct session *s, const struct cp_capture_list *list,
		    const struct user_regs_struct *user, struct frame *f)
{
	struct user_fpregs_struct fp;

	memset(&f->capture, 0, sizeof(f->capture));
	memset(&f->fetched, 0, sizeof(f->fetched));
	cp_arch_regs_from_prstatus(user, &f->capture.regs);
	if (list->site_flags & CP_SITE_VECTOR) {
		ptrace(PTRACE_GETFPREGS, s->pid, 0, &fp);
		memcpy(f->vector.v, fp.xmm_space, sizeof(f->vector.v));
		memcpy(f->vector.x87, fp.st_space, sizeof(f->vector.x87));
		f->capture.vector = &f->vector;
	}
	fetch_all(s, list, &f->capture.regs, &f->fetched);
	f->capture.fetched = (const uint8_t *)f->fetched.bytes;
	f->capture.fetched_size = f->fetched.size;
	f->capture.fetches = list->fetches;
	f->capture.fetch_count = list->fetch_count;
	f->capture.bias = s->bias;
	f->capture.symbol = name_of;
	f->capture.symbol_ctx = s;
}

/* ---- breakpoints ---- */

static void place(struct session *s, uint64_t address)
{
	uint8_t byte, trap = 0xcc;

	if (cp_map_get(&s->originals, address))
		return;
	if (read_memory(s, address, &byte, 1) != 1 || !cp_map_put(&s->originals, address, byte) ||
	    pwrite(s->memory, &trap, 1, (off_t)address) != 1)
		die("breakpoint");
}

static void step_over(struct session *s, uint64_t address)
{
	uint8_t byte = (uint8_t)*cp_map_get(&s->originals, address), trap = 0xcc;
	int status;

	if (pwrite(s->memory, &byte, 1, (off_t)address) != 1)
		die("step");
	ptrace(PTRACE_SINGLESTEP, s->pid, 0, 0);
	waitpid(s->pid, &status, 0);
	if (pwrite(s->memory, &trap, 1, (off_t)address) != 1)
		die("step");
}

/* ---- calls ---- */

/* Breakpoints on all `ret` of a function. */
static void place_exits(struct session *s, const struct cp_symbol *symbol)
{
	struct cp_decoder *decoder = cp_decoder_create(&cp_arch_x86_64);
	uint64_t at = symbol->start.v, end = at + symbol->size;
	uint8_t code[16];
	struct cp_insn insn;

	for (; decoder && at < end; at += insn.size) {
		if (read_memory(s, at + s->bias, code, sizeof(code)) != sizeof(code))
			break;
		if (cp_map_get(&s->originals, at + s->bias))
			code[0] = (uint8_t)*cp_map_get(&s->originals, at + s->bias);
		if (!cp_decode(decoder, code, sizeof(code), at, &insn))
			break;
		if (insn.flow == CP_FLOW_RETURN)
			place(s, at + s->bias);
	}
	cp_decoder_destroy(decoder);
}

/* At a `ret` of the function that was entered last: its locals. */
static void leaving(struct session *s, const struct user_regs_struct *user)
{
	struct frame *f = s->frames.count ? &s->frames.items[s->frames.count - 1] : NULL;
	struct frame now = { 0 };
	struct cp_capture_list list;
	struct cp_vaddr site = { user->rip - s->bias };

	if (!f || f->sp != user->rsp || !(s->options->want & CP_SIGNATURE_LOCALS) ||
	    site.v <= f->function->symbol.start.v ||
	    site.v >= f->function->symbol.start.v + f->function->symbol.size)
		return;
	list = cp_signature_at_exit(f->function->signature, site);
	capture(s, &list, user, &now);
	f->call.locals = cp_signature_locals(f->function->signature, &now.capture, site, f->arena,
					     &f->call.local_count);
	cp_buf_free(&now.fetched);
}

static void entered(struct session *s, struct function *function,
		    const struct user_regs_struct *user)
{
	struct cp_capture_list list;
	struct frame f = { .function = function, .sp = user->rsp };

	if (s->options->max_calls && function->calls >= s->options->max_calls)
		return;
	function->calls++;
	if (!function->signature) {
		struct cp_error *err =
			cp_signature_read(s->image, function->symbol.start, function->symbol.name,
					  false, strchr(function->symbol.name, '.') != NULL,
					  s->options->want, NULL, &function->signature);
		if (err) {
			fprintf(stderr, "%s: %s\n", function->symbol.name, err->what);
			exit(1);
		}
	}
	if (read_memory(s, user->rsp, &f.back, 8) != 8)
		die("return address");
	list = cp_signature_at_entry(function->signature);
	capture(s, &list, user, &f);
	f.arena = cp_value_arena_create();
	f.call.function = function->symbol.name;
	f.call.signature = function->signature;
	if (!cp_vec_push(&s->frames, f))
		die("memory");
	/* Only now is it where it stays while values are made. */
	struct frame *kept = &s->frames.items[s->frames.count - 1];
	if (kept->capture.vector)
		kept->capture.vector = &kept->vector;
	kept->call.arguments = cp_signature_arguments(function->signature, &kept->capture,
						      kept->arena, &kept->call.argument_count);
	place(s, f.back);
	if (s->options->want & CP_SIGNATURE_LOCALS)
		place_exits(s, &function->symbol);
}

static void drop(struct frame *f)
{
	cp_buf_free(&f->fetched);
	cp_value_arena_destroy(f->arena);
}

static void returned(struct session *s, const struct user_regs_struct *user)
{
	struct cp_capture_list list;
	struct frame *f, now = { 0 };

	while (s->frames.count) {
		f = &s->frames.items[s->frames.count - 1];
		if (user->rsp <= f->sp)
			return;
		if (user->rsp == f->sp + 8 && user->rip == f->back) {
			if (f->capture.vector)
				f->capture.vector = &f->vector;
			list = cp_signature_at_exit(f->function->signature, (struct cp_vaddr){ 0 });
			s->kept = f->capture.regs.r[cp_arch_x86_64.args[0]];
			capture(s, &list, user, &now);
			f->call.result = cp_signature_result(f->function->signature, &f->capture,
							     &now.capture, f->arena);
			s->options->returned(s->options->ctx, &f->call);
			cp_buf_free(&now.fetched);
		}
		drop(f);
		s->frames.count--;
	}
}

static void hit(struct session *s)
{
	struct user_regs_struct user;
	const uint64_t *function;

	ptrace(PTRACE_GETREGS, s->pid, 0, &user);
	if (!cp_map_get(&s->originals, user.rip - 1))
		return;
	user.rip--;
	ptrace(PTRACE_SETREGS, s->pid, 0, &user);
	leaving(s, &user);
	returned(s, &user);
	function = cp_map_get(&s->by_address, user.rip);
	if (function)
		entered(s, &s->functions[*function], &user);
	step_over(s, user.rip);
}

/* ---- the program ---- */

static void start(struct session *s)
{
	char path[64];
	int status, out;

	s->pid = fork();
	if (!s->pid) {
		out = open(s->options->output ? s->options->output : "/dev/null",
			   O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(out, 1);
		close(out);
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(s->options->argv[0], (char *const *)(uintptr_t)s->options->argv);
		_exit(127);
	}
	if (waitpid(s->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		die("start");
	ptrace(PTRACE_SETOPTIONS, s->pid, 0, PTRACE_O_EXITKILL);
	snprintf(path, sizeof(path), "/proc/%d/mem", s->pid);
	s->memory = open(path, O_RDWR | O_CLOEXEC);
	if (s->memory < 0)
		die(path);
}

static void find_bias(struct session *s)
{
	char path[64], line[4096];
	struct cp_vaddr first;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", s->pid);
	maps = fopen(path, "re");
	if (!maps || !fgets(line, sizeof(line), maps) ||
	    !cp_image_vaddr_of_offset(s->image, 0, &first))
		die(path);
	s->bias = strtoull(line, NULL, 16) - first.v;
	fclose(maps);
}

static void place_all(struct session *s)
{
	const struct cp_symbol *symbols;
	struct cp_error *err;
	size_t count, i;

	err = cp_image_symbols(s->image, &symbols, &count);
	if (err) {
		fprintf(stderr, "%s\n", err->what);
		exit(1);
	}
	s->functions = calloc(count + 1, sizeof(*s->functions));
	for (i = 0; i < count; i++) {
		if (symbols[i].kind != CP_SYMBOL_FUNCTION || !symbols[i].size ||
		    cp_map_get(&s->by_address, symbols[i].start.v + s->bias) ||
		    !s->options->wants(s->options->ctx, &symbols[i]))
			continue;
		s->functions[s->count].symbol = symbols[i];
		cp_map_put(&s->by_address, symbols[i].start.v + s->bias, s->count++);
		place(s, symbols[i].start.v + s->bias);
	}
}

static int run(struct session *s)
{
	int status, signal = 0;

	for (;;) {
		ptrace(PTRACE_CONT, s->pid, 0, signal);
		if (waitpid(s->pid, &status, 0) < 0)
			die("wait");
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (!signal)
			hit(s);
	}
}

int trace_program(const struct trace_options *options)
{
	struct session s = { .options = options };
	struct cp_error *err = cp_image_open_file(options->argv[0], NULL, &s.image);
	size_t i;
	int status;

	if (err) {
		fprintf(stderr, "%s\n", err->what);
		cp_error_free(err);
		return -1;
	}
	start(&s);
	find_bias(&s);
	place_all(&s);
	status = run(&s);
	close(s.memory);
	for (i = 0; i < s.frames.count; i++)
		drop(&s.frames.items[i]);
	cp_vec_free(&s.frames);
	for (i = 0; i < s.count; i++)
		cp_signature_destroy(s.functions[i].signature);
	free(s.functions);
	cp_map_free(&s.originals);
	cp_map_free(&s.by_address);
	cp_image_destroy(s.image);
	return status;
}
