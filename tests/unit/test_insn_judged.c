/* SPDX-License-Identifier: MIT
 *
 * Decoding judged by objdump: every instruction that it finds in whole
 * binaries has to be one for us, of the same length, leading to the same
 * place. And why instructions are not capstone's to decode: how many of them
 * it gets wrong, and how long either takes, is printed. The day that it gets all
 * right says so, too.
 *
 *	test_insn_judged [FILE...]
 *
 * Files that are not there are left out; this program's libc always is.
 */
#include "test.h"

#include "arch/insn.h"
#include "base/vec.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#define SHOW 20

struct line {
	uint64_t pc;
	uint8_t code[16];
	size_t size;
	char *mnemonic; /* prefixes are skipped */
	char *operands;
	bool prefix_only; /* objdump shows prefixes that it can't place alone */
};

struct code {
	uint64_t pc;
	uint8_t bytes[16];
	size_t size;
};

static unsigned shown;
static unsigned long capstone_wrong;
static struct cp_decoder *decoder;
static csh capstone; /* without details: what our decoder answers */
static cs_insn *scratch;

static bool is_prefix(const char *word, size_t size)
{
	static const char *const prefixes[] = { "bnd",	    "notrack", "rep", "repz",	"repnz",
						"lock",	    "data16",  "cs",  "ds",	"es",
						"ss",	    "fs",      "gs",  "addr32", "xacquire",
						"xrelease", "data32" };
	size_t i;

	if (size >= 3 && !memcmp(word, "rex", 3))
		return true;
	for (i = 0; i < CP_ARRAY_SIZE(prefixes); i++) {
		if (strlen(prefixes[i]) == size && !memcmp(word, prefixes[i], size))
			return true;
	}
	return false;
}

/* "  401000:\t48 8b 05 00 \tmov    0x0(%rip),%rax        # 401007 <x>" */
static bool parse(char *text, struct line *ret)
{
	char *colon = strchr(text, ':'), *p, *end;

	if (text[0] != ' ' || !colon || colon[1] != '\t')
		return false;
	ret->pc = strtoull(text, NULL, 16);
	ret->size = 0;
	for (p = colon + 2; ret->size < sizeof(ret->code); p = end) {
		unsigned long byte = strtoul(p, &end, 16);

		if (end != p + 2)
			break;
		ret->code[ret->size++] = (uint8_t)byte;
		while (*end == ' ')
			end++;
	}
	if (*p != '\t')
		return false;
	for (p++;; p = end + strspn(end, " ")) {
		end = p + strcspn(p, " \n");
		ret->prefix_only = end == p;
		if (!is_prefix(p, (size_t)(end - p)))
			break;
	}
	ret->mnemonic = p;
	ret->operands = *end == ' ' ? end + strspn(end, " ") : end;
	*end = 0;
	return true;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (!strcmp(text, *words))
			return true;
	}
	return false;
}

static enum cp_flow flow_of(const struct line *line)
{
	static const char *const returns[] = { "ret",	"retw",	 "lret",  "lretw", "iret",
					       "iretw", "iretq", "lretq", NULL };
	static const char *const ends[] = { "ud0",     "ud1",	   "ud2",      "hlt",	  "int3",
					    "int1",    "int",	   "sysret",   "sysretl", "sysretq",
					    "sysexit", "sysexitl", "sysexitq", "icebp",	  NULL };
	const char *m = line->mnemonic;
	bool indirect = line->operands[0] == '*' || m[0] == 'l';

	if (is_one_of(m, returns))
		return CP_FLOW_RETURN;
	if (!strcmp(m, "syscall") || !strcmp(m, "sysenter") ||
	    (!strcmp(m, "int") && begins(line->operands, "$0x80")))
		return CP_FLOW_SYSCALL;
	if (is_one_of(m, ends))
		return CP_FLOW_END;
	if (begins(m, "call") || begins(m, "lcall"))
		return indirect ? CP_FLOW_CALL_INDIRECT : CP_FLOW_CALL;
	if (begins(m, "jmp") || begins(m, "ljmp"))
		return indirect ? CP_FLOW_JUMP_INDIRECT : CP_FLOW_JUMP;
	if (m[0] == 'j' || begins(m, "loop") || !strcmp(m, "xbegin"))
		return CP_FLOW_BRANCH;
	return CP_FLOW_ON;
}

static bool agrees(const struct line *line)
{
	struct cp_insn insn;
	enum cp_flow flow = flow_of(line);
	uint64_t target = 0;

	if (!cp_decode(decoder, line->code, line->size, line->pc, &insn))
		return false;
	if (flow == CP_FLOW_JUMP || flow == CP_FLOW_BRANCH || flow == CP_FLOW_CALL)
		target = strtoull(line->operands, NULL, 16);
	return insn.size == line->size && insn.flow == flow && insn.target == target &&
	       insn.landing_pad == !strcmp(line->mnemonic, "endbr64") &&
	       insn.nop == (begins(line->mnemonic, "nop") ||
			    (!strcmp(line->mnemonic, "xchg") && begins(line->operands, "%ax,%ax")));
}

/* (bad) and prefixes without an instruction are data in the middle of code. */
static bool is_code(const struct line *line)
{
	return !line->prefix_only && line->mnemonic[0] != '(' && line->mnemonic[0] != '.' &&
	       !strstr(line->operands, "(bad)");
}

/* ---- capstone beside it ---- */

static bool capstone_agrees(const struct code *c)
{
	const uint8_t *bytes = c->bytes;
	size_t size = c->size;
	uint64_t pc = c->pc;

	return cs_disasm_iter(capstone, &bytes, &size, &pc, scratch) && !size;
}

static bool ours_agrees(const struct code *c)
{
	struct cp_insn insn;

	return cp_decode(decoder, c->bytes, c->size, c->pc, &insn) && insn.size == c->size;
}

/* Lengths only, and processor time. */
static unsigned long compare(const char *who, bool (*agrees_with)(const struct code *),
			     const struct code *codes, size_t count)
{
	unsigned long wrong = 0;
	clock_t before = clock();
	size_t i;

	for (i = 0; i < count; i++)
		wrong += !agrees_with(&codes[i]);
	printf("  %s: %lu lengths wrong, %.0f ns each\n", who, wrong,
	       (double)(clock() - before) * 1e9 / CLOCKS_PER_SEC / (double)(count ? count : 1));
	return wrong;
}

static void compare_both(const struct code *codes, size_t count)
{
	char name[32];
	int major, minor;

	cs_version(&major, &minor);
	snprintf(name, sizeof(name), "capstone %d.%d", major, minor);
	CHECK_U64(compare("ours", ours_agrees, codes, count), 0);
	capstone_wrong += compare(name, capstone_agrees, codes, count);
}

/* ---- objdump ---- */

static void judge(const char *path)
{
	unsigned long count = 0, data = 0, wrong = 0;
	CP_VEC(struct code) codes = { 0 };
	struct code code;
	char command[512], *text = NULL;
	size_t room = 0;
	struct line line;
	FILE *dump;

	snprintf(command, sizeof(command), "objdump -dw '%s'", path);
	dump = popen(command, "r");
	while (dump && getline(&text, &room, dump) > 0) {
		if (!parse(text, &line))
			continue;
		count++;
		if (!is_code(&line)) {
			data++;
			continue;
		}
		code = (struct code){ .pc = line.pc, .size = line.size };
		memcpy(code.bytes, line.code, sizeof(code.bytes));
		CHECK(cp_vec_push(&codes, code));
		if (!agrees(&line)) {
			wrong++;
			if (shown++ < SHOW)
				fprintf(stderr, "%s: %" PRIx64 ": %s %s", path, line.pc,
					line.mnemonic, line.operands);
		}
	}
	free(text);
	printf("%s: %lu instructions, %lu not code, %lu wrong\n", path, count, data, wrong);
	compare_both(codes.items, codes.count);
	cp_vec_free(&codes);
	CHECK(dump && pclose(dump) == 0);
	CHECK(count > 1000);
	CHECK_U64(wrong, 0);
}

int main(int argc, char **argv)
{
	Dl_info libc;
	int i;

	if (system("objdump --version >/dev/null 2>&1"))
		SKIP("no objdump");
	decoder = cp_decoder_create(&cp_arch_x86_64);
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
		return 1;
	scratch = cs_malloc(capstone);
	if (!decoder || !scratch || !dladdr((const void *)(uintptr_t)popen, &libc))
		return 1;
	judge(libc.dli_fname);
	for (i = 1; i < argc; i++) {
		if (!access(argv[i], R_OK))
			judge(argv[i]);
	}
	if (!capstone_wrong)
		printf("capstone gets all of them right: is our decoder still needed?\n");
	cs_free(scratch, 1);
	cs_close(&capstone);
	cp_decoder_destroy(decoder);
	TEST_MAIN_END;
}
