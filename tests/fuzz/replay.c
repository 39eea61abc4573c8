/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target without a fuzzer, for the normal test run: over every
 * file given or in a directory given, and over broken copies of them.
 *
 *     fuzz_TARGET [--mutate=N] [--seconds=N] PATH...
 *
 * The mutations are the same at each run. An input that takes longer than
 * --seconds (60) fails; which one it was is printed, whatever the end.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static char current[4352]; /* what is being run */
static unsigned mutations, seconds = 60, runs;
static uint64_t seed = 1;

static void tell(void)
{
	static const char text[] = "fuzz input: ";

	if (write(2, text, sizeof(text) - 1) < 0 || write(2, current, strlen(current)) < 0 ||
	    write(2, "\n", 1) < 0)
		_exit(1);
}

static void on_signal(int signo)
{
	tell();
	signal(signo == SIGALRM ? SIGABRT : signo, SIG_DFL);
	raise(signo == SIGALRM ? SIGABRT : signo);
}

static uint64_t next(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? (seed >> 11) % below : 0;
}

static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1); /* exact, so that sanitizers see its end */

	if (!copy)
		exit(1);
	if (size)
		memcpy(copy, data, size);
	alarm(seconds);
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	free(copy);
	runs++;
}

/* A number of the kind that breaks readers, `width` bytes of it. */
static void put_number(uint8_t *at, unsigned width)
{
	static const uint64_t numbers[] = { 0,		1,	    2,	    0x7f,
					    0x80,	0xff,	    0x7fff, 0xffffffff,
					    0x7fffffff, 0x80000000, ~0ULL,  ~0ULL >> 1 };
	uint64_t value = numbers[next(sizeof(numbers) / sizeof(numbers[0]))];

	memcpy(at, &value, width);
}

static size_t mutate(uint8_t *data, size_t size)
{
	unsigned changes = 1 + (unsigned)next(4), width;
	size_t at, from, n;

	if (!size)
		return 0;
	if (!next(20))
		return next(size);
	while (changes--) {
		at = next(size);
		width = 1u << next(4);
		switch (next(4)) {
		case 0:
			data[at] ^= (uint8_t)(1u << next(8));
			break;
		case 1:
			data[at] = (uint8_t)next(256);
			break;
		case 2:
			if (width <= size - at)
				put_number(data + at, width);
			break;
		default:
			from = next(size);
			n = next(64);
			if (n <= size - at && n <= size - from)
				memmove(data + at, data + from, n);
		}
	}
	return size;
}

static void run_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *data, *broken;
	unsigned i;
	size_t size;

	if (fd < 0 || fstat(fd, &st) < 0) {
		perror(path);
		exit(1);
	}
	size = (size_t)st.st_size;
	data = malloc(size + 1);
	broken = malloc(size + 1);
	if (!data || !broken || read(fd, data, size) != (ssize_t)size) {
		perror(path);
		exit(1);
	}
	close(fd);
	snprintf(current, sizeof(current), "%s", path);
	run(data, size);
	seed = 0x9e3779b97f4a7c15;
	for (i = 0; i < mutations; i++) {
		snprintf(current, sizeof(current), "%s, mutation %u", path, i);
		memcpy(broken, data, size);
		run(broken, mutate(broken, size));
	}
	free(data);
	free(broken);
}

static void run_path(const char *path)
{
	struct dirent **list;
	char full[4096];
	struct stat st;
	int n, i;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		run_file(path);
		return;
	}
	n = scandir(path, &list, NULL, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(full, sizeof(full), "%s/%s", path, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			run_path(full);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

int main(int argc, char **argv)
{
	int i;

	signal(SIGALRM, on_signal);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(tell);
	} else {
		signal(SIGSEGV, on_signal);
		signal(SIGABRT, on_signal);
		signal(SIGBUS, on_signal);
		signal(SIGFPE, on_signal);
	}
	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--mutate=", 9))
			mutations = (unsigned)atoi(argv[i] + 9);
		else if (!strncmp(argv[i], "--seconds=", 10))
			seconds = (unsigned)atoi(argv[i] + 10);
		else
			run_path(argv[i]);
	}
	printf("%u inputs\n", runs);
	return runs == 0;
}
