#!/usr/bin/env bats
# Manual pages: they render without a warning, and mention the options that
# there are and no others.

load helpers

pages() { find "$SOURCES/man" -name '*.[1-8]' | sort; }
commands() { "$CPROF" --help | sed -n 's/^  \([a-z]*\) [^ ].*/\1/p'; }
documented() { commands | grep -v -x -e help -e completion; }
options_of() { "$CPROF" "$1" --help | grep -o -E -- '^  (   |-.,) --[a-z-]+' | grep -o -E -- '--[a-z-]+'; }

@test "manual pages render without a warning" {
	for page in $(pages); do
		man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>warnings >/dev/null
		assert_equal "$page: $(cat warnings)" "$page: "
	done
}

@test "manual pages: what is quoted is quoted as it is to be typed" {
	for page in $(pages); do
		man -E UTF-8 -l "$page" | col -bx | tr -s ' \n' '  ' >text
		# No quote within a quote, and none that ends twice.
		# shellcheck disable=SC1112 # as they are on the page
		run grep -oE '‘[^’]{0,40}‘[^ ]*|[^ ]*’’' text
		assert_equal "$page: $output" "$page: "
	done
}

@test "cprof(1) mentions every command, and each has its page" {
	page=$(man -E UTF-8 -l "$SOURCES/man/cprof.1" | col -bx)
	for command in $(commands); do
		[[ $page == *"cprof $command"* || $page == *"cprof-$command(1)"* ]] ||
			fail "cprof(1) does not mention $command"
	done
	for command in $(documented); do
		assert_exist "$SOURCES/man/cprof-$command.1"
	done
}

@test "cprof-recording(5) has all totals, in their order" {
	sed -n '/^#define TOTALS(X)/,/^void cp_record_put_totals/p' "$SOURCES/src/record/format.c" |
		sed -n -e 's/^\tX(\([a-z0-9_]*\)).*/\1/p' -e 's/^#define CALL_TOTALS.*/ended\nwait_status/p' >totals
	sed -n '/^\.SS Totals/,/^\.TE/p' "$SOURCES/man/cprof-recording.5" | sed -n 's/\t.*//p' >told
	[ -s totals ]
	diff totals told
}

@test "manual pages are installed" {
	for page in $(pages); do
		grep -q "'$(basename "$page")'" "$SOURCES/man/meson.build" || fail "$page is not installed"
	done
}

@test "each option stands in the manual page, with its value" {
	for command in $(documented); do
		page=$(MANWIDTH=200 man -E UTF-8 -l "$SOURCES/man/cprof-$command.1" | col -bx | grep -E '^ +-')
		for option in $(options_of "$command"); do
			grep -q -E -e "(^| )$option(\\[|[=, ]|\$)" <<<"$page" ||
				fail "cprof-$command(1) does not mention $option"
		done
	done
}

@test "manual pages mention no option that is not there" {
	for command in $(documented); do
		known=$(options_of "$command"; echo --help)
		for option in $(MANWIDTH=200 man -E UTF-8 -l "$SOURCES/man/cprof-$command.1" |
			col -bx | grep -E '^ +-' | grep -o -E -- '--[a-z-]+'); do
			grep -q -x -e "$option" <<<"$known" || fail "there is no cprof $command $option"
		done
	done
}
