#!/usr/bin/env bats
# The house itself: what builds, tests and shows it. Nothing is left out of a
# test run unnoticed.

load helpers

# A source tree with a test and a file of two cases, and the log of a run.
tree() {
	mkdir -p scripts tests/cli build/meson-info build/meson-logs
	cp "$SOURCES/scripts/summary" scripts/
	printf 'one: *  no right to*\n' >tests/allowed-skips
	printf '@test "%s" {\n\ttrue\n}\n\n' first second >tests/cli/one.bats
	printf '[{"name": "unit", "suite": ["cprof"]}, {"name": "one", "suite": ["cprof:cli"]}]' \
		>build/meson-info/intro-tests.json
	logged 'cprof / unit' 'fine' >build/meson-logs/testlog.json
	logged 'cprof:cli / one' '1..2\nok 1 first\nok 2 second' >>build/meson-logs/testlog.json
}

# logged NAME OUTPUT: an entry of the log.
logged() { printf '{"name": "%s", "stdout": "%s\\n", "result": "OK"}\n' "$1" "$2"; }

summary() { run scripts/summary build "$@"; }

@test "the summary counts cases" {
	tree
	summary
	assert_success
	assert_line '2 of 2 cases in 1 files of tests/cli ran'
	assert_equal "${lines[-1]}" '3 passed, 0 failed'
}

@test "a test, a file of cases or a case that did not run is a failure" {
	tree
	sed -i /unit/d build/meson-logs/testlog.json
	summary
	assert_failure
	assert_line 'failed: unit: it did not run'
	assert_equal "${lines[-1]}" '2 passed, 1 failed'
	tree
	sed -i /cli/d build/meson-logs/testlog.json
	printf '[{"name": "unit", "suite": ["cprof"]}]' >build/meson-info/intro-tests.json
	summary
	assert_line 'failed: one: 0 of the 2 cases of its file ran'
	assert_equal "${lines[-1]}" '1 passed, 1 failed'
	summary --no-suite cli
	assert_success
	assert_equal "${lines[-1]}" '1 passed, 0 failed'
	tree
	sed -i 's/.nok 2 second//' build/meson-logs/testlog.json
	summary
	assert_line 'failed: one: 1 of the 2 cases of its file ran'
	assert_equal "${lines[-1]}" '2 passed, 1 failed'
}

@test "of a failed program without cases its last words are shown" {
	tree
	sed -i '/unit/s/"OK"/"FAIL", "stderr": "well\\ntest.c:3: failed: 1 == 2\\n"/' \
		build/meson-logs/testlog.json
	summary
	assert_failure
	assert_line 'failed: unit: fail'
	assert_line '  test.c:3: failed: 1 == 2'
	assert_equal "${lines[-1]}" '2 passed, 1 failed'
}

@test "a skip is listed with its reason, or a failure" {
	tree
	sed -i 's/ok 2 second/& # skip no right to do it/' build/meson-logs/testlog.json
	summary
	assert_success
	assert_line 'skipped: one: second: no right to do it'
	assert_equal "${lines[-1]}" '2 passed, 0 failed'
	sed -i 's/no right to do it/gdb is not installed/' build/meson-logs/testlog.json
	summary
	assert_failure
	assert_equal "${lines[-1]}" '2 passed, 1 failed'
	rm build/meson-logs/testlog.json
	summary
	assert_failure
	assert_line 'failed: unit: it did not run'
}

@test "without what the tests need there is no build with them" {
	mkdir bin
	ln -s /usr/bin/* bin/
	rm bin/bats
	run env PATH="$PWD/bin" meson setup -Dtests=enabled build "$SOURCES"
	assert_failure
	assert_line --regexp "Program 'bats' not found"
}

@test "what is installed is told before, and how much it is" {
	mkdir bin
	printf '#!/bin/sh\necho "meson:ii "\n' >bin/dpkg-query
	cat >bin/apt-get <<-'END'
		#!/bin/sh
		echo "apt-get $*" >>asked
		case $* in *--assume-no*)
			echo '0 upgraded, 28 newly installed, 0 to remove and 126 not upgraded.'
			echo 'Need to get 6696 kB/16.5 MB of archives.'
			echo 'After this operation, 60.2 MB of additional disk space will be used.'
			exit 1 ;;
		esac
	END
	printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/sudo
	chmod +x bin/*
	run env PATH="$PWD/bin:$PATH" "$SOURCES/scripts/deps" build
	assert_success
	assert_line --regexp '^installing, which takes some minutes: gcc g\+\+ libc6-dev ninja-build '
	assert_line 'with what they need: 28 packages, 6696 kB/16.5 MB to fetch, 60.2 MB on disk'
	assert_equal "$(tail -n1 asked | cut -d' ' -f1-5)" 'apt-get -qq -y --no-install-recommends install'
}

@test "what excludes another package is unpacked apart, once" {
	mkdir -p bin tree/DEBIAN tree/usr/include
	printf '%s\n' 'Package: one' 'Version: 1' 'Architecture: all' 'Maintainer: Nobody <nobody@localhost>' \
		'Description: one' >tree/DEBIAN/control
	: >tree/usr/include/vector
	dpkg-deb -b tree one.deb >/dev/null
	# shellcheck disable=SC2016 # for the inner shell
	printf '#!/bin/sh\nshift 3\nprintf "%%s:ii " "$@"\n' >bin/dpkg-query
	cat >bin/apt-get <<-END
		#!/bin/sh
		case \$* in *download*) cp $PWD/one.deb . || { echo 'no such package'; exit 1; } ;; esac
	END
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/sudo
	chmod +x bin/*
	export CPROF_DEPS_APART=$PWD/apart
	run env PATH="$PWD/bin:$PATH" "$SOURCES/scripts/deps" test
	assert_success
	assert_output "unpacking libc++-14-dev in $PWD/apart"
	[ -f apart/libc++-14-dev/usr/include/vector ]
	rm one.deb
	run env PATH="$PWD/bin:$PATH" "$SOURCES/scripts/deps" test
	assert_success
	assert_output ''
	rm -r apart
	run env PATH="$PWD/bin:$PATH" "$SOURCES/scripts/deps" test
	assert_failure
	assert_line 'no such package'
	assert_line --partial "can't fetch the package libc++-14-dev"
	[ ! -e apart ]
}

# Where meson can't ask dpkg for the directory of libraries it takes lib64.
@test "the library goes where compilers and pkg-config look, also without dpkg" {
	mkdir bin
	ln -s /usr/bin/* bin/
	rm -f bin/dpkg*
	PATH=$PWD/bin CC=gcc CXX=g++ meson setup -Dtests=disabled build "$SOURCES" >log 2>&1 || { tail log; false; }
	export PKG_CONFIG_PATH=$PWD/build/meson-private
	assert_equal "$(pkg-config --variable=libdir cprof)" /usr/local/lib
	assert_equal "$(pkg-config --variable=plugindir cprof)" /usr/local/lib/cprof/profilers
	pkg-config --variable=pc_path pkg-config | tr : '\n' | grep -qx /usr/local/lib/pkgconfig
	assert_equal "$(jq -r '.[].name' build/meson-info/intro-tests.json)" ''
}

# words: the lines of a report that are the same each time: titles, columns, and
# what the cost is told of.
words() { sed -n '/^Cost/,$ s/^  \([a-z ]*[a-z]\)  .*/\1/p; /[0-9]/d; s/[[:space:]]\+/ /gp'; }

@test "the report in README.md is what scripts/try prints" {
	sed -n '/^build.scripts.example.workshop/,/^```/p' "$SOURCES/README.md" | sed '$d' >example
	"$CPROF" run -q -s 499 -o try.data -- "$BUILD/scripts/example/workshop" >/dev/null
	"$CPROF" report try.data >report
	assert_equal "$(words <example)" "$(words <report)"
	assert [ "$(words <example | wc -l)" -ge 10 ]
}
