#!/usr/bin/env bats
# Coverage for other tools: each file is judged by what reads it, and all that
# they add up is what `cprof report --json` says.

load helpers
load recordings

# sources FILE...: a git repository `src` whose last commit brings these, ten
# lines each.
sources() {
	local file
	git init -q src
	git -C src -c user.name=a -c user.email=a commit -q --allow-empty -m empty
	for file; do
		mkdir -p "src/$(dirname "$file")"
		seq 10 >"src/$file"
	done
	git -C src add -A
	git -C src -c user.name=a -c user.email=a commit -q -m sources
}

# A header that two programs include, an overloaded function, jumps of which
# both directions, one and none are known, a line that can't be told.
shop() {
	local dir=$PWD/src
	cat <<-END
		command ./shop
		image /usr/bin/shop build=aa exact
		fn main|main $dir/main.cpp 3
		b 1 3
		j 1 0 3
		b 1 4 5
		j ? 1 5
		b 0 6
		j 0 0 6
		b 1 7
		j ? ? 7
		b ? 8
		fn price(int,\_char)|_Z5priceic $dir/main.cpp 9
		b 0 9 10
		fn price(long)|_Z5pricel $dir/lib/price.cpp 1
		b 1 1 2
		j 1 1 2
		b 1 3
		fn helper|helper $dir/lib/price.h 2
		b 0 2 3
		image /usr/bin/till build=bb exact
		fn main|main $dir/till.c 1
		b 1 1 2
		fn helper|helper $dir/lib/price.h 2
		b 1 2
		b 0 3
	END
}

# Everything that may stand in a name.
nasty() {
	local dir=$PWD/src
	cat <<-END
		image /usr/bin/shop build=aa
		fn f(int,\_"x")\s<&'> $dir/a\_b,c"'&<>.c 2
		b 1 2 3
		j 1 0 3
		b 0 4
		fn e\e\n\xff|e\e\n\xff $dir/a\_b,c"'&<>.c 5
		b 0 5
		fn g $dir/$(printf '\xff\xef\xbf\xbf').c 1
		b 1 1
		j 0 1 1
	END
}

export_all() {
	(cd src && "$CPROF" export -f lcov -o ../lcov.info ../cprof.data)
	(cd src && "$CPROF" export -f cobertura -o ../cobertura.xml ../cprof.data)
	(cd src && "$CPROF" export -f sonarqube -o ../sonarqube.xml ../cprof.data)
	(cd src && "$CPROF" export -f json -o ../gcovr.json ../cprof.data)
}

# judge LINES FUNCTIONS BRANCHES [OPTION]: what every reader is to find.
judge() {
	xmllint --noout --nonet --dtdvalid "$SOURCES/tests/schemas/coverage-04.dtd" cobertura.xml
	xmllint --noout --nonet --schema "$SOURCES/tests/schemas/sonarqube-generic.xsd" sonarqube.xml
	PYTHONPATH='' /usr/bin/python3 "$SOURCES/tests/cli/coverage_judge.py" src "${@:4}" >judged
	cat judged
	while read -r reader lines functions branches; do
		assert_equal "$reader $lines" "$reader $1"
		[ "$functions" = - ] || assert_equal "$reader $functions" "$reader $2"
		[ "$branches" = - ] || assert_equal "$reader $branches" "$reader $3"
	done <judged
}

# What cprof says itself.
reported() {
	(cd src && "$CPROF" report --json ../cprof.data) | jq -r '.coverage |
		[.lines, .functions, .branches | "\(.covered)/\(.total)"] | join(" ")'
}

@test "every reader accepts the files and adds up the same" {
	needs lcov genhtml gcovr diff-cover xmllint git
	sources main.cpp till.c lib/price.cpp lib/price.h
	shop | made cprof.data
	export_all
	judge 10/14 4/5 4/7
	assert_equal "$(wc -l <judged)" 9
	assert_equal "$(reported)" "10/14 4/5 4/7"
	# Paths are absolute for lcov, and relative for the others.
	assert_equal "$(grep -c "^SF:$PWD/src/" lcov.info)" 4
	assert_equal "$(xmllint --xpath 'string(//source)' cobertura.xml)" "$PWD/src"
	assert_equal "$(xmllint --xpath '//package/@name' cobertura.xml | xargs)" "name=lib name=."
	assert_equal "$(jq -r '[.files[].file] | join(" ")' gcovr.json)" \
		"lib/price.cpp lib/price.h main.cpp till.c"
}

# Code of 3 was moved to 2, 5 begins where others' code is, 6 nowhere; 7 is excluded.
@test "each format says which lines are uncertain" {
	needs lcov genhtml gcovr xmllint git
	sources a.c
	sed -i '7s/$/ LCOV_EXCL_LINE/' src/a.c
	made cprof.data <<-END
		image /usr/bin/p build=aa
		fn f $PWD/src/a.c 1
		b 1 2 3n 4 5e 7e
		b 0 3 5n
		b 1 6n
		b 0 9n
	END
	export_all
	judge 4/6 1/1 0/0 --no-diff
	assert_equal "$(grep '^#' lcov.info)" "# cprof: uncertain lines: 3 5-6 9"
	assert_equal "$(xmllint --xpath '//class/lines/comment()' cobertura.xml)" \
		"<!-- cprof: uncertain lines: 3 5-6 9 -->"
	assert_equal "$(xmllint --xpath '//file/comment()' sonarqube.xml)" \
		"<!-- cprof: uncertain lines: 3 5-6 9 -->"
	assert_equal "$(jq -c '[.files[].lines[] | select(."cprof/uncertain") | .line_number]' \
		gcovr.json)" '[3,5,6,9]'
	assert_equal "$(cd src && "$CPROF" report --json ../cprof.data |
		jq -c '.coverage | [.lines_uncertain, .files[].uncertain]')" '[4,[[3,3],[5,6],[9,9]]]'
	# None, nothing said.
	shop | made cprof.data
	export_all
	run grep -l "uncertain" lcov.info cobertura.xml sonarqube.xml gcovr.json
	assert_output ""
}

@test "a direction that is unknown is none; a jump never reached has two" {
	sources main.cpp till.c lib/price.cpp lib/price.h
	shop | made cprof.data
	run "$CPROF" export -f lcov cprof.data
	assert_equal "$(grep BRDA <<<"$output" | xargs)" "BRDA:2,0,0,1 BRDA:2,0,1,1 BRDA:3,0,0,1 \
BRDA:3,0,1,0 BRDA:5,0,1,1 BRDA:6,0,0,- BRDA:6,0,1,-"
	refute_line --partial 'DA:8,'
	run "$CPROF" export -f cobertura cprof.data
	assert_line --partial 'number="5" hits="1" branch="true" condition-coverage="100% (1/1)"'
	assert_line --partial 'number="7" hits="1" branch="false"'
}

@test "names can't break a file or lose a function" {
	needs lcov genhtml gcovr diff-cover xmllint git
	sources "a b,c\"'&<>.c" "$(printf '\xff\xef\xbf\xbf').c"
	nasty | made cprof.data
	export_all
	# diff-cover does not know how git writes such names.
	judge 3/5 2/3 2/4 --no-diff
	assert_equal "$(wc -l <judged)" 7
	assert_equal "$(reported)" "3/5 2/3 2/4"
	run grep -c '[[:cntrl:]]' lcov.info cobertura.xml sonarqube.xml gcovr.json
	assert_output "$(printf '%s:0\n' lcov.info cobertura.xml sonarqube.xml gcovr.json)"
}

@test "which files and lines count is as for cover" {
	sources main.cpp till.c lib/price.cpp lib/price.h
	shop | made cprof.data
	run "$CPROF" export -f lcov --include='*/lib/*' --exclude='*.h' cprof.data
	assert_equal "$(grep SF: <<<"$output")" "SF:$PWD/src/lib/price.cpp"
	run "$CPROF" export -f lcov --include='*/till.c' --exclude-line='^2$' cprof.data
	assert_equal "$(grep ^DA: <<<"$output")" "DA:1,1"
	run "$CPROF" export -f lcov --include='nothing*' cprof.data
	assert_failure
	assert_output --partial 'nothing*'
}

@test "lcov adds up the files of two runs, direction by direction" {
	needs lcov
	sources a.c
	printf 'image /p build=aa\nfn f %s 1\nb 1 1\nj ? 1 1\nb 1 2\n' "$PWD/src/a.c" | made one.data
	printf 'image /p build=aa\nfn f %s 1\nb 1 1\nj 1 0 1\nb 0 2\n' "$PWD/src/a.c" | made two.data
	"$CPROF" export -f lcov -o one.info one.data
	"$CPROF" export -f lcov -o two.info two.data
	lcov --rc lcov_branch_coverage=1 -a one.info -a two.info -o sum.info >/dev/null
	assert_equal "$(grep BRDA sum.info | sort | xargs)" "BRDA:1,0,0,1 BRDA:1,0,1,1"
}

@test "a format that does not fit the recording is refused with a hint" {
	sources a.c
	printf 'image /p build=aa\nfn f %s 1\nb 1 1\n' "$PWD/src/a.c" | made covered.data
	printf 'process 1 p /p\nthread 1 1 p\ns 1 100 1 main\n' | made sampled.data
	run "$CPROF" export -f lcov sampled.data
	assert_failure 2
	assert_output --partial "lcov is of coverage, and sampled.data holds none"
	run "$CPROF" export -f pprof -o x covered.data
	assert_failure 2
	assert_output --partial "covered.data holds coverage alone"
	assert_output --partial "html|lcov|cobertura|sonarqube|json"
	run "$CPROF" export -f html covered.data
	assert_failure 2
	assert_output --partial "--output=DIR"
	"$CPROF" export -f html -o pages covered.data
	assert_file_exists pages/index.html
	"$CPROF" export -f html -o page.html sampled.data
	grep -q '<svg' page.html
}

@test "cover in a container finds what it finds outside" {
	# Which directions are watched to the end depends on who else wants the processors, else.
	"$CPROF" cover -q --branches=exact --stale=warn --lcov=native.info -- \
		"$TRACEES/coroutines" --rounds=1
	"$TRACEES/contained" "$CPROF" cover -q --branches=exact --stale=warn \
		--lcov=contained.info -- "$TRACEES/coroutines" --rounds=1
	grep -q 'FNDA:1,yield_deep' native.info
	cmp native.info contained.info
}

@test "an export that fails leaves no file behind, and nothing of what is no file" {
	printf 'int main(void) { return 0; }\n' >p.c
	gcc -O0 -g -o p p.c
	"$CPROF" cover -q --name='unit/one' -o data -- ./p
	local format
	for format in lcov cobertura folded; do
		[ $format != folded ] || "$CPROF" run -q -t main -o data -- ./p
		echo older >old
		for out in old new; do
			run bash -c "trap '' XFSZ; ulimit -f 0; exec '$CPROF' export -f $format -o $out data"
			assert_failure 1
			[ ! -e $out ]
		done
		run "$CPROF" export -f $format -o /dev/full data
		assert_failure 1
		[ -c /dev/full ]
	done
}

@test "lcov: the test that was named is lcov's test, too" {
	needs lcov
	printf 'int main(void) { return 0; }\n' >p.c
	gcc -O0 -g -o p p.c
	"$CPROF" cover -q --name='unit/one' --lcov=x -- ./p
	lcov -q -a x -o y 2>err
	[ ! -s err ] # it says so where it has to change one
	grep -qx TN:unit_one y
}
