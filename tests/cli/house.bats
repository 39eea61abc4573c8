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
