/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target over files and directories of files: how a corpus is
 * replayed in the normal tests, without a fuzzer. To fuzz, build the target
 * with clang -fsanitize=fuzzer instead of with this file.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t files;

static int replay_file(const char *path, size_t size)
{
	/* exactly as large as the file, so that sanitizers see its end */
	uint8_t *bytes = malloc(size ? size : 1);
	FILE *f = fopen(path, "rb");

	if (!bytes || !f || fread(bytes, 1, size, f) != size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
	files++;
	return 0;
}

static void replay(const char *path)
{
	char name[4096];
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (stat(path, &st)) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_file(path, (size_t)st.st_size);
		return;
	}
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		replay(name);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%zu files replayed\n", files);
	return files == 0;
}
