#!/usr/bin/env bats
# cprof layout: judged by programs that print their own offsets, and by pahole.

load helpers
load tracees

# layout FILE TYPE: into layout.json
layout() {
	"$CPROF" layout --json "$1" "$2" >layout.json 2>layout.err || {
		complain "$2: $(cat layout.err)"
		return 1
	}
}

# judge PROGRAM: what it says of itself is what cprof says of it.
judge() {
	local type name offset size align
	"./$1" >said
	while read -r _ type; do
		size=${type% *} align=${type##* }
		type=${size% *} size=${size##* }
		layout "$1" "$type" || continue
		if jq -e .declared layout.json >/dev/null; then
			echo "# $2: $type is left out by the compiler" >&3
			continue
		fi
		[ "$(jq -r '"\(.size) \(.align)"' layout.json)" = "$size $align" ] ||
			complain "$1: $type is $(jq -c '[.size, .align]' layout.json), not $size $align"
	done < <(grep '^type ' said)
	while read -r _ type name offset size; do
		case $type in
		box) type='Box<int, 3>' ;;
		hidden) type='Box<Hidden, 1>' ;;
		esac
		layout "$1" "$type" || continue
		[ "$(jq -r --arg n "$name" '.fields[] | select(.name == $n) | "\(.offset) \(.size)"' layout.json)" = "$offset $size" ] ||
			complain "$1: $type.$name: $(jq -c .fields layout.json), not $offset $size"
	done < <(grep '^field ' said)
	while read -r _ type name offset; do
		layout "$1" "$type" || continue
		[ "$(jq -r --arg n "$name" '.bases[] | select(.type == $n) | "\(.offset) \(.virtual)"' layout.json)" = "$offset false" ] ||
			complain "$1: base $name of $type: $(jq -c .bases layout.json), not $offset"
	done < <(grep '^base ' said)
}

@test "sizes, offsets and bases are what the program says of itself" {
	needs jq g++
	local compiler compilers=("g++ -gdwarf-5" "g++ -gdwarf-4 -O2 -fdebug-types-section" "g++ -gdwarf-3"
		"clang++ -gdwarf-4 -O2" "clang++ -g -fdebug-types-section")
	[ -z "${CPROF_TEST_LONG-}" ] || compilers+=("g++ -gdwarf-4 -O2" "clang++ -g"
		"g++ -gdwarf-5 -fdebug-types-section" "g++ -gdwarf-4 -fdebug-types-section")
	for compiler in "${compilers[@]}"; do
		command -v "${compiler%% *}" >/dev/null || { echo "# no ${compiler%% *}" >&3; continue; }
		$compiler -std=c++17 -Wno-invalid-offsetof -o types "$SOURCES/tests/cli/layout_types.cpp"
		judge types "$compiler"
	done
	no_complaints
}

@test "own fields only, bit-fields, virtual bases, template arguments, enumerators" {
	needs jq g++
	g++ -g -std=c++17 -Wno-invalid-offsetof -o types "$SOURCES/tests/cli/layout_types.cpp"
	layout types Derived
	jq -e '[.fields[].name] == ["own", "last"] and [.bases[].type] == ["Other"]' layout.json
	layout types Diamond
	# As the compiler lays them out: 3 bits, 7, 4 without a name, then a unit of its own.
	jq -e '[.fields[] | select(.bit_size) | [.name, .offset * 8 + .bit_offset, .bit_size]] ==
		[["a", 256, 3], ["b", 259, 7], ["c", 288, 20]]' layout.json
	layout types Left
	jq -e '.bases == [{"type": "Base", "offset": null, "virtual": true}]' layout.json
	layout types 'Box<int,3>'
	jq -e '[.arguments[] | [.name, .type, .value]] == [["T", "int", null], ["N", "int", 3]]' layout.json
	layout types Color
	jq -e '.enumerators == [{"name": "red", "value": 0}, {"name": "green", "value": 200}]' layout.json
	"$CPROF" layout types Left | grep -F '(virtual base: where it is, each object says)'
	"$CPROF" layout types Hidden | grep -F -x 'struct outer::(anonymous namespace)::Hidden: 16 bytes, aligned to 8, 3 bytes in 1 hole'
	"$CPROF" layout types Hidden | grep -E -x ' +5 +3 +\(hole\)'
	no_complaints
}

# Debug information that is packed (dwz) is in files of its own, which pahole does not look for.
@test "every member of all structs of real programs is pahole's" {
	needs pahole python3 gcc
	local files=("$CPROF" ./both) library id
	# Two that differ in nothing but members and the file.
	echo 'struct two { int a, b; } x;' >a.c
	echo 'struct two { float c, d; } y; int main() { return 0; }' >b.c
	gcc -g -o both a.c b.c
	assert_equal "$("$CPROF" layout --all both | grep -c 'struct two$')" 2
	for library in /lib/x86_64-linux-gnu/libc.so.6 /lib64/ld-linux-x86-64.so.2; do
		id=$(readelf -n "$library" 2>/dev/null | sed -n 's/.*Build ID: //p')
		[ ! -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] ||
			files+=("/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug")
	done
	python3 "$SOURCES/tests/cli/layout_judge.py" "$CPROF" "${files[@]}" >judged || { cat judged; return 1; }
	cat judged
}

# pahole 1.24 takes what is _Atomic for nothing, and names types by their tags alone.
@test "sizes and holes of all of this program's own structs are pahole's" {
	needs jq pahole
	pahole -s "$CPROF" 2>/dev/null | LC_ALL=C sort -u >want
	"$CPROF" layout --all --json "$CPROF" >all.json
	jq -r '.[] | select(.keyword == "struct ") | select([.fields[].type] | any(contains("_Atomic")) | not) |
		[.type, .size, .holes] | @tsv' all.json | LC_ALL=C sort -u >got
	# Those that both have, by name and size.
	LC_ALL=C join -t "$(printf '\a')" <(cut -f 1,2 want | LC_ALL=C sort -u) <(cut -f 1,2 got | LC_ALL=C sort -u) >both
	[ "$(wc -l <both)" -gt 1000 ]
	LC_ALL=C grep -F -f <(sed 's/$/\t/' both) got >got.both
	assert_equal "$(LC_ALL=C comm -13 want got.both)" ''
	# The table has a line for each.
	"$CPROF" layout --all "$CPROF" >table
	assert_equal "$(($(wc -l <table) - 3))" "$(jq length all.json)"
	assert_equal "$(head -1 table | cut -d' ' -f1 | tr -d ,)" "$(jq length all.json)"
	"$CPROF" layout --holes --json "$CPROF" | jq -c '[.[] | .hole_bytes + .padding]' >lost
	jq -e '. == (sort | reverse) and all(. > 0)' lost
	assert_equal "$(jq length lost)" "$(jq '[.[] | select(.hole_bytes + .padding > 0)] | length' all.json)"
}

@test "what an ABI change moved: layout --diff" {
	needs jq
	cat >old.cpp <<-'END'
		#include <cstddef>
		#include <cstdio>
		namespace shop {
		enum class kind { A, B = 4, C };
		struct item { char c; double d; int n; void *name; kind k; };
		struct box : item { virtual ~box() {} short s; bool b : 1, q : 3; long l; };
		struct gone { int x; };
		}
		struct alike { char a; long b; };
		typedef struct { int a, b; } plain;
		shop::box b;
		shop::GONE g;
		alike a;
		plain p;
		int main() { printf("%zu %zu %zu\n", sizeof(shop::item), offsetof(shop::item, name), sizeof(shop::box)); }
	END
	sed 's/GONE/fresh/; s/struct gone { int x; }/struct fresh { int y; }/; s/int n; void/long n, m; void/; s/short s;/short s, s2;/; s/C };/C, D };/; s/plain p/plain p[2]/' old.cpp >new.cpp
	sed -i 's/GONE/gone/' old.cpp
	g++ -g -Wno-invalid-offsetof -o old old.cpp
	g++ -g -Wno-invalid-offsetof -o new new.cpp
	"$CPROF" layout --diff --json old new >diff.json
	assert_equal "$(jq -c '[.[] | [.type, .old != null, .new != null]]' diff.json)" \
		'[["shop::box",true,true],["shop::fresh",false,true],["shop::gone",true,false],["shop::item",true,true],["shop::kind",true,true]]'
	for side in old new; do
		assert_equal "$(jq -r ".[] | select(.type == \"shop::item\").$side | \"\(.size) \(.fields[] | select(.name == \"name\").offset)\"" diff.json) $(
			jq ".[] | select(.type == \"shop::box\").$side.size" diff.json)" "$(./$side)"
	done
	run -0 "$CPROF" layout --diff old new
	assert_line 'struct shop::item: 40 bytes, now 48'
	assert_line --regexp '^ +16 +16 +4 +8 +long int, was int +n$'
	assert_line --regexp '^ +- +24 +- +8 +long int +m$'
	assert_line --regexp '^ +24 +32 +8 +8 +void \*  +name$'
	assert_line 'enum shop::kind: 4 bytes as before'
	assert_line --regexp '^ +- +6 +D$'
	assert_line --regexp '^3 changed, 1 gone, 1 new, [0-9]+ types as before$'
	run -0 "$CPROF" layout --diff old old '[!_]*'
	assert_output --regexp '^[0-9]+ types as before$'
	run -1 "$CPROF" layout --diff old new 'none::*'
	assert_output --partial "no type matches 'none::*'"
	run -2 "$CPROF" layout --diff old
	run -2 "$CPROF" layout old
	assert_output --partial 'which type? --all shows them all'
	run -2 "$CPROF" layout --diff --holes old new
}

@test "Rust: enums with data say which form is where" {
	needs jq
	[ -e "$BUILD/tests/tracees/sample_rust" ] || skip "rustc is not installed"
	layout "$BUILD/tests/tracees/sample_rust" 'Option<alloc::string::String>'
	jq -e '.size == 24 and [.fields[] | select(.discriminant | not) | .name] == ["None", "Some"]' layout.json
	no_complaints
}

@test "types of libraries are found as the source writes them, as large as the program says" {
	needs jq rustc
	cat >written.cpp <<-'END'
		#include <cstdio>
		#include <functional>
		#include <map>
		#include <memory>
		#include <optional>
		#include <string>
		#include <vector>
		template<class T> struct Mine { T t; char more; };
		#define X(...) { static __VA_ARGS__ object; printf("%zu %s\n", sizeof(object), #__VA_ARGS__); }
		int main() {
			X(std::string) X(std::vector<std::string>) X(std::unique_ptr<int>)
			X(std::map<std::string, std::vector<int>>) X(std::function<int(long)>)
			X(std::optional<std::string>) X(Mine<std::vector<std::string>>)
		}
	END
	g++ -g -std=c++17 -o written written.cpp
	cat >written.rs <<-'END'
		use std::collections::HashMap;
		macro_rules! each { ($($t:ty = $v:expr, $name:literal;)*) => { $( let value: $t = $v;
			println!("{} {}", std::mem::size_of_val(&value), $name); )* } }
		fn main() {
			each! {
				Option<Box<u32>> = None, "Option<Box<u32>>";
				Option<Vec<String>> = None, "Option<Vec<String>>";
				Result<Box<u32>, String> = Ok(Box::new(1)), "Result<Box<u32>, String>";
				HashMap<String, Vec<u8>> = HashMap::new(), "std::collections::HashMap<String, Vec<u8>>";
				Option<fn(u32) -> u64> = None, "Option<fn(u32) -> u64>";
				Option<fn(u32) -> String> = None, "core::option::Option<fn(u32) -> alloc::string::String>";
			}
		}
	END
	rustc -g -o written_rs written.rs
	local program size name
	for program in written written_rs; do
		while read -r size name; do
			"$CPROF" layout --json "$program" "$name" >layout.json || complain "$program $name"
			jq -e --argjson size "$size" '.size == $size' layout.json || complain "$program $name $size"
		done < <("./$program")
	done
	# What is asked for is not any other.
	run "$CPROF" layout written 'std::vector<std::wstring>'
	assert_equal "$status" 1
	run "$CPROF" layout written 'std::vector<std::vector<std::string>>'
	assert_equal "$status" 1
	no_complaints
}

@test "names that are not there get a near one, files without debug information a reason" {
	g++ -g -std=c++17 -Wno-invalid-offsetof -o types "$SOURCES/tests/cli/layout_types.cpp"
	separately "$CPROF" layout types Diamnd
	[ "$status" = 1 ]
	grep -F 'types has no type Diamnd' <<<"$stderr"
	grep -F 'did you mean Diamond?' <<<"$stderr"
	strip -o bare types
	separately "$CPROF" layout bare Diamond
	[ "$status" = 1 ]
	grep -F 'no debug information' <<<"$stderr"
	separately "$CPROF" layout types
	[ "$status" = 2 ]
	separately "$CPROF" layout /nonexistent Diamond
	[ "$status" = 1 ]
}

@test "what is only declared has no size, and is no hole" {
	needs g++ jq
	cat >declared.cpp <<-'END'
		#include <cstdio>
		#include <sstream>
		#include <stdexcept>
		struct Err : std::runtime_error { int code; Err(int c) : std::runtime_error("x"), code(c) {} };
		struct Log : std::ostringstream { int level = 0; };
		struct Has { char c; std::runtime_error e{"q"}; std::ostringstream *o; };
		struct Outer { Err err{1}; char last; };
		struct Row { int n; std::runtime_error all[3] = {std::runtime_error("a"), std::runtime_error("b"), std::runtime_error("c")}; };
		struct Whole { char c; long l; };
		Err e(1); Log l; Has h; Outer o; Row r; Whole w;
		#define SAY(type) std::printf("%s %zu %zu\n", #type, sizeof(type), alignof(type));
		int main() { SAY(Err) SAY(Log) SAY(Has) SAY(Outer) SAY(Row) SAY(Whole) }
	END
	g++ -g -Wno-invalid-offsetof -o declared declared.cpp
	local type size align
	while read -r type size align; do
		layout declared "$type"
		# As large as the compiler has it; of the alignment no more than that is said, and
		# nothing where it can't be told.
		jq -e --argjson s "$size" --argjson a "$align" \
			'.size == $s and (if .align then .align == $a else .align_least <= $a end)' layout.json ||
			complain "$type: $(jq -c '[.size, .align, .align_least]' layout.json), not $size $align"
	done < <(./declared)
	layout declared Has
	jq -e '.align == null and ([.fields[] | select(.name == "e") | .size, .error, .size_most] == [null, "incomplete", 16])' layout.json
	layout declared Err
	jq -e '.align == null and (.bases == [{"type": "runtime_error", "offset": 0, "virtual": false,
		"size": null, "error": "incomplete", "size_most": 16}])' layout.json
	layout declared Whole
	jq -e '.align == 8 and (has("align_least") | not)' layout.json
	# The bytes of c alone are before a hole.
	"$CPROF" layout declared Has | grep -F -x 'struct Has: 32 bytes, aligned to at least 8, 7 bytes in 1 hole'
	"$CPROF" layout declared Has | grep -E -x ' +8 +\? +runtime_error +e \(incomplete: only declared here, at most 16 bytes\)'
	"$CPROF" layout declared Err | grep -F -x 'struct Err: 24 bytes, aligned to at least 4'
	"$CPROF" layout declared Log | grep -F '(padding, or virtual bases of what is incomplete)'
	"$CPROF" layout declared Outer | grep -F 'aligned to at least'
	[ "$("$CPROF" layout declared Row | grep -c -F '(hole)')" = 1 ]
	no_complaints
}

@test "members of what has no name, and fields of an enum's forms, are where the program finds them" {
	needs gcc jq
	cat >anon.c <<'END'
#include <stddef.h>
#include <stdio.h>
struct anon {
	int kind;
	union {
		struct { short a; unsigned low : 3, high : 5; union { char deep[6]; long far; }; };
		double whole;
	};
	char tail;
} anon;
int main(void)
{
	printf("kind %zu\na %zu\ndeep %zu\nfar %zu\nwhole %zu\ntail %zu\n", offsetof(struct anon, kind), offsetof(struct anon, a),
	       offsetof(struct anon, deep), offsetof(struct anon, far), offsetof(struct anon, whole), offsetof(struct anon, tail));
	return anon.kind;
}
END
	gcc -g -o anon anon.c
	./anon | sort >theirs
	"$CPROF" layout --json anon 'struct anon' >layout.json
	jq -r '[.. | objects | select(.offset? != null and .name != "" and .bit_size == null)][] | "\(.name) \(.offset)"' layout.json |
		sort | diff theirs -
	jq -e '[.. | objects | select(.name? == "high")] == [{ name: "high", type: "unsigned int", offset: 10, size: 4, bit_offset: 3, bit_size: 5 }]' layout.json
	"$CPROF" layout anon 'struct anon' >text
	while read -r name offset; do
		grep -E "^ *$offset +[0-9]+ .* $name(\[6\])?\$" text || complain "$name at $offset: $(cat text)"
	done <theirs
	command -v rustc >/dev/null || skip "rustc is not installed"
	cat >forms.rs <<'END'
#[allow(dead_code)]
enum Kind { Empty, Rec { id: u16, name: String }, Pair(u32, u64) }
fn main() {
    let rec = Kind::Rec { id: 7, name: "n".to_string() };
    if let Kind::Rec { id, name } = &rec {
        let at = &rec as *const _ as usize;
        println!("id {}\nname {}", id as *const _ as usize - at, name as *const _ as usize - at);
    }
    let pair = Kind::Pair(1, 2);
    if let Kind::Pair(a, b) = &pair {
        let at = &pair as *const _ as usize;
        println!("__0 {}\n__1 {}", a as *const _ as usize - at, b as *const _ as usize - at);
    }
}
END
	rustc -g -o forms forms.rs
	./forms | sort >theirs
	"$CPROF" layout --json forms Kind |
		jq -r '.fields[].fields? // [] | .[] | "\(.name) \(.offset)"' | sort | diff theirs -
	no_complaints
}

@test "a type that has itself in it, twice" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >self.s <<'END'
.text
.globl main
main: ret
.section .debug_abbrev,"",@progbits
.uleb128 1; .uleb128 0x11; .byte 1; .uleb128 3; .uleb128 8; .byte 0,0
.uleb128 3; .uleb128 0x13; .byte 1; .uleb128 3; .uleb128 8; .uleb128 0xb; .uleb128 0xb; .byte 0,0
.uleb128 4; .uleb128 0x0d; .byte 0; .uleb128 3; .uleb128 8; .uleb128 0x49; .uleb128 0x13; .uleb128 0x38; .uleb128 0xb; .byte 0,0
.uleb128 8; .uleb128 0x1c; .byte 0; .uleb128 0x49; .uleb128 0x13; .uleb128 0x38; .uleb128 0xb; .byte 0,0
.byte 0
.section .debug_info,"",@progbits
unit: .long end-from
from: .value 4; .long 0; .byte 8
.uleb128 1; .asciz "x.c"
self: .uleb128 3; .asciz "Self"; .byte 8
.uleb128 4; .asciz "a"; .long self-unit; .byte 0
.uleb128 4; .asciz "b"; .long self-unit; .byte 0
.byte 0
base: .uleb128 3; .asciz "Base"; .byte 8
.uleb128 8; .long base-unit; .byte 0
.uleb128 8; .long base-unit; .byte 0
.byte 0
.byte 0
end:
END
	gcc -nostartfiles -Wl,-e,main -o self self.s
	for what in "--all self" "--holes self" "self Self" "self Base"; do
		# shellcheck disable=SC2086
		timeout 20 "$CPROF" layout $what >shown
	done
	"$CPROF" layout self Self | diff - <(printf '%s\n' 'struct Self: 8 bytes, aligned to 1' '' '  offset  size  type         member' \
		'       0     8  struct Self  a' '       0     8  struct Self  b')
}
