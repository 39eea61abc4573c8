/* SPDX-License-Identifier: MIT
 *
 * Real objects' call frame information, row by row, against readelf: every
 * row of every function of the C and C++ libraries, the dynamic linker, the
 * vdso and this program. And what their code tells itself, against that.
 */
#include "test.h"
#include "test_unwind.h"
#include "arch/wayout.h"
#include "unwind/table.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <unistd.h>

static const struct cp_arch *arch;
static pid_t self;
static const struct cp_reader memory = { test_read_pid, &self };

#define COLUMNS_MAX 24

struct judge {
	const char *name;
	struct cp_table *table;
	struct cp_table_memory memory;
	uint64_t start, end; /* of the current FDE */
	unsigned columns[COLUMNS_MAX], ncolumns; /* register numbers; ra is the pc */
	size_t rows, wrong;
	struct cp_decoder *decoder;
	size_t ways, none, unlike; /* of the rows: ways out that were found, and not; wrong ones */
	uint64_t page; /* code that was read last */
	size_t page_size;
	uint8_t bytes[4096];
};

static unsigned reg_number(const char *name)
{
	unsigned i;

	if (!strcmp(name, "ra"))
		return arch->pc;
	for (i = 0; i < arch->nregs; i++) {
		if (!strcmp(arch->reg_names[i], name))
			return i;
	}
	return CP_REG_MAX;
}

static bool same_cfa(const struct cp_rule *rule, const char *want)
{
	char got[64];

	if (!strcmp(want, "exp"))
		return rule->cfa_reg == CP_CFI_NO_REG;
	if (rule->cfa_reg == CP_CFI_NO_REG)
		return false;
	snprintf(got, sizeof(got), "%s%+ld", arch->reg_names[rule->cfa_reg],
		 (long)rule->cfa_offset);
	return !strcmp(got, want);
}

static const struct cp_rule_reg *rule_of(const struct cp_rule *rule, unsigned reg)
{
	unsigned i;

	for (i = 0; i < rule->count; i++) {
		if (rule->regs[i].reg == reg)
			return &rule->regs[i];
	}
	return NULL;
}

/* How readelf writes a register's rule. */
static bool same_reg(const struct cp_rule *rule, unsigned reg, const char *want)
{
	const struct cp_rule_reg *r = rule_of(rule, reg);
	char got[64];

	if (reg >= arch->nregs) /* a vector register */
		return true;
	if (!strcmp(want, "u") || !strcmp(want, "s"))
		return !r && (reg != arch->pc || rule->root);
	if (!r)
		return false;
	switch ((enum cp_rule_kind)r->kind) {
	case CP_RULE_OFFSET:
		snprintf(got, sizeof(got), "c%+ld", (long)r->offset);
		break;
	case CP_RULE_VAL_OFFSET:
		snprintf(got, sizeof(got), "v%+ld", (long)r->offset);
		break;
	case CP_RULE_REGISTER:
		snprintf(got, sizeof(got), "r%ld", (long)r->offset);
		break;
	case CP_RULE_EXPR:
		return !strcmp(want, "exp");
	case CP_RULE_VAL_EXPR:
		return !strcmp(want, "vexp");
	case CP_RULE_UNSPECIFIED:
	case CP_RULE_SAME:
	case CP_RULE_UNDEFINED:
		return false;
	}
	return !strcmp(got, want);
}

static bool same_row(struct judge *j, uint64_t loc, char *columns)
{
	const struct cp_rule *rule =
		cp_table_find(j->table, &j->memory, (struct cp_vaddr){ loc }, NULL);
	char *save = NULL, *token = strtok_r(columns, " ", &save);
	unsigned i;

	if (!rule || !token || (!same_cfa(rule, token) && !rule->root))
		return false;
	for (i = 0; i < j->ncolumns; i++) {
		do
			token = strtok_r(NULL, " ", &save);
		while (token && token[0] == '('); /* "r5 (rdi)" */
		if (!token || !same_reg(rule, j->columns[i], token))
			return false;
	}
	return true;
}

static size_t read_linked(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	struct judge *j = ctx;

	if (addr < j->page || addr + size > j->page + j->page_size) {
		j->page = addr;
		j->page_size =
			test_read_pid(&self, addr + j->memory.bias, j->bytes, sizeof(j->bytes));
	}
	size = size < j->page_size ? size : j->page_size;
	memcpy(buffer, j->bytes + (addr - j->page), size);
	return size;
}

static enum cp_way_where where(void *ctx, uint64_t pc)
{
	struct judge *j = ctx;
	struct cp_vaddr function = { 0 };
	const struct cp_rule *rule;

	if (pc >= j->start && pc < j->end)
		return CP_WAY_INSIDE;
	rule = cp_table_find(j->table, &j->memory, (struct cp_vaddr){ pc }, &function);
	return rule && function.v == pc && same_cfa(rule, "rsp+8") ? CP_WAY_BEGINS : CP_WAY_BEYOND;
}

/* Counted from one register, the CFA and what is saved where are the rule's. What clang has
 * pushed holds its value in its register, too, by its rules up to the last push. */
static bool same_way(const struct cp_rule *rule, const struct cp_way_out *way)
{
	unsigned i;

	if (rule->cfa_reg != way->base)
		return true;
	if (rule->cfa_offset != way->cfa)
		return false;
	for (i = 0; i < CP_WAY_OUT_REGS; i++) {
		const struct cp_rule_reg *r = rule_of(rule, i);

		if (!(way->saved >> i & 1) || (!r && way->base == arch->sp && way->at[i] >= 0))
			continue;
		if (!r || r->kind != CP_RULE_OFFSET || r->offset != way->at[i] - way->cfa)
			return false;
	}
	return true;
}

static void judge_way(struct judge *j, uint64_t loc, const char *line)
{
	const struct cp_reader code = { read_linked, j };
	const struct cp_way_ends ends = { where, j };
	const struct cp_rule *rule =
		cp_table_find(j->table, &j->memory, (struct cp_vaddr){ loc }, NULL);
	struct cp_way_out way;

	if (!rule || !rule->simple || rule->root || arch != &cp_arch_x86_64)
		return;
	if (!cp_arch_way_out(j->decoder, &code, loc, false, &ends, &way)) {
		j->none++;
		return;
	}
	j->ways++;
	if (!same_way(rule, &way) && ++j->unlike <= 20)
		fprintf(stderr, "%s: %s: the way out from %" PRIx64 ": r%u%+ld, saved %x\n",
			j->name, line, loc, way.base, (long)way.cfa, way.saved);
}

static void read_columns(struct judge *j, char *line)
{
	char *save = NULL, *token = strtok_r(line, " ", &save);

	j->ncolumns = 0;
	while (token && j->ncolumns < COLUMNS_MAX) {
		token = strtok_r(NULL, " ", &save);
		if (token && strcmp(token, "CFA"))
			j->columns[j->ncolumns++] = reg_number(token);
	}
}

/* A row holds until the next one, so its first byte is asked for. */
static void read_line(struct judge *j, char *line)
{
	char copy[4096], *pc = strstr(line, " pc=");
	uint64_t loc;
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	snprintf(copy, sizeof(copy), "%s", line);
	if (strstr(line, " CIE ")) {
		j->end = 0;
	} else if (strstr(line, " FDE ") && pc) {
		if (sscanf(pc, " pc=%lx..%lx", &j->start, &j->end) != 2)
			j->end = 0;
	} else if (strstr(line, "LOC ")) {
		read_columns(j, line);
	} else if (j->end && sscanf(line, "%lx %n", &loc, &at) == 1 && at >= 17 && loc < j->end) {
		j->rows++;
		if (!same_row(j, loc, line + at) && ++j->wrong <= 5)
			fprintf(stderr, "%s: not so: %s\n", j->name, copy);
		judge_way(j, loc, copy);
	}
}

static void judge_object(const char *name, const char *file, uint64_t base, size_t at_least)
{
	struct judge j = {
		.name = name,
		.memory = { .reader = &memory },
		.decoder = cp_decoder_create(arch),
	};
	char command[512], line[4096];
	FILE *f;

	j.table = cp_table_create(arch, &memory, base);
	CHECK(j.table != NULL);
	if (!j.table)
		return;
	j.memory.bias = base - cp_table_first(j.table);
	snprintf(command, sizeof(command),
		 "LC_ALL=C readelf -W --debug-dump=frames-interp '%s' 2>/dev/null", file);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f))
		read_line(&j, line);
	if (f)
		pclose(f);
	printf("%s: %zu rows, %zu wrong; ways out: %zu, %zu wrong, %zu not found\n", name, j.rows,
	       j.wrong, j.ways, j.unlike, j.none);
	/* Behind some calls that do not return there is more of the function, which takes less off
	 * the stack; and of OpenSSL's assembler two rules are wrong. */
	CHECK(j.unlike <= j.ways / 5000);
	CHECK(j.none <= j.rows / 5);
	CHECK(j.rows >= at_least);
	CHECK_U64(j.wrong, 0);
	cp_table_destroy(j.table);
	cp_decoder_destroy(j.decoder);
}

static const struct cp_unwind_mapping *mapping_of(const struct test_maps *maps, const char *part)
{
	size_t i;

	for (i = 0; i < maps->count; i++) {
		if (strstr(maps->items[i].path, part) && !maps->items[i].file_offset)
			return &maps->items[i];
	}
	return NULL;
}

static void judge_mapped(const struct test_maps *maps, const char *part, size_t at_least)
{
	const struct cp_unwind_mapping *m = mapping_of(maps, part);

	if (m)
		judge_object(part, m->path, m->start, at_least);
	else
		printf("%s: not loaded here\n", part);
}

static void judge_vdso(const struct test_maps *maps)
{
	const struct cp_unwind_mapping *m = mapping_of(maps, "[vdso]");
	char name[] = "/tmp/cprof-vdso-XXXXXX";
	size_t size;
	int fd;

	if (!m) {
		printf("[vdso]: none here\n");
		return;
	}
	size = m->end - m->start;
	fd = mkstemp(name);
	CHECK(fd >= 0 && write(fd, (const void *)(uintptr_t)m->start, size) == (ssize_t)size);
	judge_object("[vdso]", name, m->start, 5);
	close(fd);
	unlink(name);
}

int main(void)
{
	struct test_maps maps;
	char exe[4096] = "";

	arch = cp_arch_host();
	self = getpid();
	if (system("readelf --version >/dev/null 2>&1") != 0)
		SKIP("no readelf");
	dlopen("libstdc++.so.6", RTLD_NOW);
	dlopen("libcrypto.so.3", RTLD_NOW); /* assembly with CFI written by hand */
	maps = test_maps(self);
	judge_mapped(&maps, "libc.so.6", 10000);
	judge_mapped(&maps, "ld-linux", 500);
	judge_mapped(&maps, "libstdc++.so", 10000);
	judge_mapped(&maps, "libgcc_s", 100);
	judge_mapped(&maps, "libcrypto", 1000);
	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	judge_mapped(&maps, exe, 10);
	judge_vdso(&maps);
	test_maps_free(&maps);
	TEST_MAIN_END;
}
