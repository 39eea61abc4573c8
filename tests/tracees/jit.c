/* SPDX-License-Identifier: MIT
 *
 * Code made at run time: functions written into fresh pages, announced in
 * /tmp/perf-PID.map, called, thrown away and made anew elsewhere, without any
 * call frame information. --mode=spin stays in one of them (jit_spin), called
 * through another that keeps a frame pointer (jit_framed).
 */
#include <sys/mman.h>

#include "tracee.h"

#if defined(__x86_64__)
/* eax = edi + N; a loop of edi rounds; a frame around a call of rsi. */
static const uint8_t add_code[] = { 0x8d, 0x87, 0, 0, 0, 0, 0xc3 };
static const uint8_t spin_code[] = { 0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xc3 };
static const uint8_t framed_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };

static void patch(uint8_t *code, uint32_t n)
{
	memcpy(code + 2, &n, sizeof(n));
}
#elif defined(__aarch64__)
static const uint8_t add_code[] = { 0, 0, 0, 0x11, 0xc0, 0x03, 0x5f, 0xd6 };
static const uint8_t spin_code[] = { 0xe1, 0x03, 0x00, 0x2a, 0x00, 0x00, 0x80, 0x52,
				     0x00, 0x00, 0x01, 0x0b, 0x21, 0x04, 0x00, 0x71,
				     0xc1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
static const uint8_t framed_code[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x20, 0x00,
				       0x3f, 0xd6, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };

static void patch(uint8_t *code, uint32_t n)
{
	uint32_t insn = 0x11000000 | n << 10;

	memcpy(code, &insn, sizeof(insn));
}
#endif

#define COUNT 16
#define SPIN 100000

static FILE *map;

static void announce(const void *code, size_t size, const char *name, uint32_t n)
{
	fprintf(map, "%lx %zx %s_%u\n", (unsigned long)(uintptr_t)code, size, name, n);
}

static uint8_t *make(const uint8_t *code, size_t size, const char *name, uint32_t n)
{
	uint8_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED, "mmap: %s", strerror(errno));
	memcpy(page, code, size);
	if (code == add_code)
		patch(page, n);
	TRY(mprotect(page, 4096, PROT_READ | PROT_EXEC));
	__builtin___clear_cache((char *)page, (char *)page + size);
	announce(page, size, name, n);
	return page;
}

static void one_round(void)
{
	uint8_t *add[COUNT], *spin, *framed;
	union {
		uint8_t *code;
		uint32_t (*call)(uint32_t);
		uint32_t (*through)(uint32_t, uint8_t *);
	} f;

	for (uint32_t i = 0; i < COUNT; i++)
		add[i] = make(add_code, sizeof(add_code), "jit_add", i);
	spin = make(spin_code, sizeof(spin_code), "jit_spin", 0);
	framed = make(framed_code, sizeof(framed_code), "jit_framed", 0);
	fflush(map);
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t k = 0; k < 500; k++) {
			f.code = add[i];
			CHECK(f.call(k) == k + i, "generated code computed something else");
		}
	do {
		f.code = framed;
		CHECK(f.through(SPIN, spin) == (uint32_t)(SPIN * (SPIN + 1ULL) / 2),
		      "generated loop computed something else");
	} while (opt.mode && tracee_more());
	for (uint32_t i = 0; i < COUNT; i++)
		munmap(add[i], 4096);
	munmap(spin, 4096);
	munmap(framed, 4096);
}

int main(int argc, char **argv)
{
	char path[64];

	tracee_begin("jit", argc, argv, (struct tracee_options){ .rounds = 100 });
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "we");
	CHECK(map, "%s: %s", path, strerror(errno));
	if (opt.mode)
		one_round();
	else
		while (tracee_more())
			one_round();
	fclose(map);
	unlink(path);
	return tracee_ok("generated code, every result");
}
