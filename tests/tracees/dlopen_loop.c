/* SPDX-License-Identifier: MIT
 *
 * A library loaded, used and unloaded over and over, by two threads under two
 * names at different times, so that it comes back at other addresses; a missing
 * one refused. The library is libplugin.so beside the program.
 */
#include <dlfcn.h>
#include <libgen.h>

#include "tracee.h"

static char path[2][4200];

static uint32_t expected(uint32_t x, long n)
{
	for (long i = 0; i < n; i++)
		x = x * 1664525 + 1013904223 + 1;
	return x;
}

static void *loader(void *arg)
{
	const char *name = arg;

	for (int i = 0; i < 20; i++) {
		void *lib = dlopen(name, i % 2 ? RTLD_NOW : RTLD_LAZY);
		uint32_t (*work)(uint32_t, long), want = expected((uint32_t)i, 1000);

		CHECK(lib, "dlopen: %s", dlerror());
		*(void **)&work = dlsym(lib, "plugin_work");
		CHECK(work, "dlsym: %s", dlerror());
		CHECK(work((uint32_t)i, 1000) == want, "the library computed something else");
		CHECK(!dlclose(lib), "dlclose: %s", dlerror());
		CHECK(!dlopen("/nonexistent/libnone.so", RTLD_NOW), "loaded nothing");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	tracee_begin("dlopen_loop", argc, argv, (struct tracee_options){ .rounds = 15 });
	CHECK(n > 0, "readlink: %s", strerror(errno));
	exe[n] = 0;
	snprintf(path[0], sizeof(path[0]), "%s/libplugin.so", dirname(exe));
	snprintf(path[1], sizeof(path[1]), "%s/libplugin2.so", exe);
	while (tracee_more()) {
		pthread_t other = tracee_thread(loader, path[1]);

		loader(path[0]);
		pthread_join(other, NULL);
	}
	return tracee_ok("every load, call and unload");
}
