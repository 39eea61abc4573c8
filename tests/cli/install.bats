#!/usr/bin/env bats
# What is installed is enough for a stranger: a program that embeds cprof, with
# the shared and with the static library, and a module, built by the lines that
# the manual gives.

load helpers

setup_file() {
	export DESTDIR=$BATS_FILE_TMPDIR/root CC=${CC:-cc}
	meson install -C "$BUILD" --no-rebuild --tags devel,runtime >"$BATS_FILE_TMPDIR/log" 2>&1 ||
		{ cat "$BATS_FILE_TMPDIR/log" >&2; return 1; }
	PKG_CONFIG_PATH=$(dirname "$(find "$DESTDIR" -name cprof.pc)")
	export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$DESTDIR
	LIBRARIES=$(dirname "$PKG_CONFIG_PATH")
	INSTALLED=$DESTDIR$(pkg-config --variable=prefix cprof)/bin/cprof
	export LIBRARIES INSTALLED
	$CC -O1 -o "$BATS_FILE_TMPDIR/program" "$SOURCES/tests/modules/program.c"
}

# The tests' own setup() leaves PROGRAM to us.
program() { printf '%s\n' "$BATS_FILE_TMPDIR/program"; }

# Sanitized libraries want the sanitizers' own in the program.
needs_plain() { [ -z "${SANITIZED-}" ] || skip 'libcprof is built with sanitizers'; }

@test "a module is built and loaded with the installed headers and program" {
	cp "$SOURCES/tests/modules/hello.c" .
	# shellcheck disable=SC2046 # words are wanted
	$CC -fPIC -shared -o libcprof-profiler-hello.so hello.c $(pkg-config --cflags cprof)
	run "$INSTALLED" run --plugin-dir=. --profile=hello:a=1 -- true
	assert_success
	assert_line hello:a=1
	run pkg-config --variable=plugindir cprof
	assert_output --regexp '/cprof/profilers$'
	# Pointers and names by the thousand are looked up by who needs them, before main() by nobody.
	run readelf -d "$INSTALLED"
	assert_output --partial 'NEEDED'
	refute_output --regexp "capstone|sqlite"
}

@test "header, program and pkg-config are of one version" {
	cat >version.c <<-'END'
		#include <cprof/cprof.h>
		#include <stdio.h>
		int main(void)
		{
			printf("%d.%d.%d %s\n", CPROF_VERSION_MAJOR, CPROF_VERSION_MINOR, CPROF_VERSION_PATCH,
			       CPROF_VERSION);
		}
	END
	# shellcheck disable=SC2046
	$CC -o version version.c $(pkg-config --cflags cprof)
	local version
	version=$(pkg-config --modversion cprof)
	assert_equal "$(./version)" "$version $version"
	assert_equal "$("$INSTALLED" --version)" "cprof $version"
}

# As the documentation of Mono's API has it, with the names changed.
@test "the first module of a port from Mono builds by its own line" {
	cat >example.c <<-'END'
		#include <cprof/profiler.h>
		#include <stdio.h>

		struct cprof_profiler {
		  int dummy;
		};

		static cprof_profiler profiler;

		static void
		runtime_inited (cprof_profiler *prof)
		{
		  printf ("Hello World");
		}

		void
		cprof_profiler_init_example (const char *desc)
		{
		  cprof_profiler_handle handle = cprof_profiler_create (&profiler);
		  cprof_profiler_set_runtime_initialized_callback (handle, runtime_inited);
		}
	END
	# shellcheck disable=SC2046,SC2006 # its own line
	gcc -fPIC -shared -o libcprof-profiler-example.so example.c `pkg-config --cflags cprof`
	run "$INSTALLED" run --plugin-dir=. --profile=example -- true
	assert_success
	assert_output 'Hello World'
	# It may be among the dynamic linker's.
	LD_LIBRARY_PATH=$PWD run "$INSTALLED" run --profile=example -- true
	assert_output 'Hello World'
}

@test "a program embeds libcprof: shared" {
	needs_plain
	# shellcheck disable=SC2046
	$CC -o embed "$SOURCES/tests/modules/embed.c" $(pkg-config --cflags --libs cprof)
	readelf -d embed | grep -q 'NEEDED.*libcprof.so.1'
	readelf -V embed | grep -q CPROF_1
	export LD_LIBRARY_PATH=$LIBRARIES
	run ./embed "$(program)"
	assert_success
	assert_line 'embed: 5 calls, status 7'
}

@test "a program embeds libcprof: static" {
	needs_plain
	# shellcheck disable=SC2046
	$CC -o embed "$SOURCES/tests/modules/embed.c" \
		$(pkg-config --static --cflags --libs cprof | sed 's/-lcprof\>/-l:libcprof.a/')
	readelf -d embed >dynamic
	run grep "NEEDED.*libcprof" dynamic
	assert_failure 1
	run ./embed "$(program)"
	assert_success
	assert_line 'embed: 5 calls, status 7'
}

@test "a program that embeds libcprof statically has its names to itself" {
	needs_plain
	# Names that files of cprof share among themselves.
	cat >own.c <<-'END'
		int tick(void) { return 1; }
		int emit_event(void) { return 2; }
		int thread_find(void) { return 3; }
		int cp_now(void) { return 4; }
		int engine_trace(void) { return 5; }
	END
	# shellcheck disable=SC2046
	$CC -o embed "$SOURCES/tests/modules/embed.c" own.c \
		$(pkg-config --static --cflags --libs cprof | sed 's/-lcprof\>/-Wl,--whole-archive -l:libcprof.a -Wl,--no-whole-archive/')
	run ./embed "$(program)"
	assert_success
	assert_line 'embed: 5 calls, status 7'
}

@test "a program that embeds libcprof loads modules, its own profilers first" {
	needs_plain
	# shellcheck disable=SC2046
	$CC -rdynamic -o embed "$SOURCES/tests/modules/embed.c" $(pkg-config --cflags --libs cprof)
	# shellcheck disable=SC2046
	$CC -fPIC -shared -o libcprof-profiler-hello.so "$SOURCES/tests/modules/hello.c" \
		$(pkg-config --cflags cprof)
	cp libcprof-profiler-hello.so libcprof-profiler-inside.so
	export LD_LIBRARY_PATH=$LIBRARIES
	run ./embed "$(program)" . inside:x hello:y
	assert_success
	assert_line 'inside: inside:x'
	assert_line hello:y
	assert_line 'embed: 5 calls, status 7'
	run ./embed "$(program)" . nope
	assert_failure 1
	assert_line --partial "no profiler named 'nope'"
}

# The library tells no types itself.
@test "the types of libraries' functions are found where cprof was moved to" {
	echo 'int atoi(const char *text) { return text[0]; }' >own.c
	echo "int atoi(const char *); int main(void) { return atoi(\"7\") != '7'; }" >asks.c
	$CC -O1 -fno-builtin -shared -fPIC -o libown.so own.c
	$CC -fno-builtin -o asks asks.c ./libown.so
	separately "$INSTALLED" run -q -t plt:atoi -a -o rec -- ./asks
	assert_equal "$stderr" ""
	run "$INSTALLED" replay rec
	assert_output --partial 'atoi@plt("7")'
}
