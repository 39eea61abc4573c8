#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Judges src/image by the tools that people trust: nm for symbols, objdump for
# PLT entries, eu-addr2line for gcc's lines and inlined calls, llvm-symbolizer
# for clang's (eu-addr2line leaves frames out there).
#
#     image_judge.sh IMAGE_DUMP SOURCE_DIR SUBJECT
set -u
dump=$(realpath "$1")
src=$(realpath "$2")
subject=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fail() {
	echo "failed: $*" >&2
	failed=1
}

need() {
	for tool; do
		if ! command -v "$tool" >/dev/null; then
			echo "skipped: no $tool"
			exit 77
		fi
	done
}

have() {
	command -v "$1" >/dev/null && return 0
	echo "left out: no $1"
	return 1
}

# same NAME WANT GOT: two files with the same lines
same() {
	[ -s "$2" ] || fail "$1: nothing to compare with"
	cmp -s "$2" "$3" && return
	fail "$1"
	diff "$2" "$3" | head -8 >&2
}

# compile OUT_OBJECTS FLAGS...: both units
objects() {
	out=$1 cxx=$2 cc=$3
	shift 3
	$cxx "$@" -c "$src/inlines.cc" -o "$out.cc.o" || fail "compile $out.cc.o"
	$cc "$@" -c "$src/other.c" -o "$out.c.o" || fail "compile $out.c.o"
}

# What nm knows of code, in both tables: address and name without version.
# nm's W and u may be data: readelf tells.
names_by_readelf() {
	readelf -sW "$1" | awk '
		$4 == "FUNC" || $4 == "IFUNC" {
			if ($7 == "UND" || $7 == "ABS") next
			sub(/@.*/, "", $8); print $2, $8
		}' | LC_ALL=C sort -u
}

# symbols FILE [FILE WITH THE SYMBOLS]
symbols() {
	{
		names_by_readelf "$1"
		[ $# -lt 2 ] || names_by_readelf "$2"
	} | LC_ALL=C sort -u >want.names
	"$dump" "$1" symbols | awk '$2 == "f" || $2 == "i" { print $1, $4 }' |
		LC_ALL=C sort -u >all.names
	# Labels without a type are ours to add, when nm calls them code.
	nm "${2:-$1}" 2>/dev/null | awk '$2 ~ /^[tTwW]$/ { sub(/@.*/, "", $3); print $1, $3 }' |
		LC_ALL=C sort -u >nm.names
	LC_ALL=C comm -13 want.names all.names >extra.names
	# How a stripped program begins says its code.
	LC_ALL=C comm -23 extra.names nm.names | grep -v -E ' (_start|main)$' >wrong.names
	[ -s wrong.names ] && fail "$1: names that nm does not have: $(head -3 wrong.names)"
	LC_ALL=C comm -12 want.names all.names >got.names
	same "$1: symbols" want.names got.names
}

plt() {
	objdump -d "$1" | sed -n 's/^0*\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p' |
		grep -v 'ABS' | sort >want.plt
	"$dump" "$1" symbols | awk '$2 == "p" && $4 != ".plt" { sub(/^0+/, "", $1); print $1, $4 }' |
		sort >got.plt
	same "$1: PLT" want.plt got.plt
}

# Addresses in our own functions and what they instantiate.
sample() {
	"$dump" "$1" sample | grep -E " ($2)" | cut -d' ' -f1 | sort -u >all.pcs
	awk -v n="$(wc -l <all.pcs)" 'BEGIN { step = n > 250 ? n / 250 : 1 }
		NR >= at { print; at += step }' all.pcs >pcs
	[ "$(wc -l <pcs)" -gt 20 ] || fail "$1: too few functions"
}
ours='_ZN5outer|_ZNK5outer|_ZNSt|_ZSt|other_file|hidden|compare$|main$'

# One line an address: function@file:line, innermost first.
fold() {
	sed 's/ (discriminator [0-9]*)//; s/ inlined at .*//; s/^0x0*\([0-9a-f]\)/0x\1/' |
		awk '{ gsub(/ /, "_") }
		     /^0x[0-9a-f]+$/ { if (NR > 1) print line; line = $0; n = 0; next }
		     n++ % 2 == 0 { line = line " " $0; next } { line = line "@" $0 }
		     END { print line }'
}

# The outermost function may be named by another alias (constructors), by its
# symbol where DWARF has only a short name, with or without .cold: names are
# judged by nm, so here it only has to be there. Of names that are not mangled
# the judges know only the last part, without what it is in.
blur() {
	sed ':again; s/<[^<>@]*>//g; t again; s/ [^ @]*::\([^ :@]*\)@/ \1@/g; s/ [^ ]*@\([^ @]*\)$/ *@\1/'
}

frames_by_eu() {
	sample "$1" "$ours"
	eu-addr2line -a -i -f -e "$1" <pcs |
		sed 's/\(:[0-9][0-9]*\):[0-9][0-9]*$/\1/' | fold | blur >want.frames
	"$dump" "$1" frames <pcs | fold | blur >got.frames
	same "$1: frames" want.frames got.frames
}

frames_by_llvm() {
	sample "$1" "$ours"
	llvm-symbolizer --no-demangle --obj="$1" -f=linkage -i -a --output-style=GNU <pcs | fold |
		blur >want.frames
	"$dump" "$1" frames <pcs | fold | blur >got.frames
	same "$1: frames" want.frames got.frames
}

# same_frames FILE REFERENCE: the same code, its debug information elsewhere.
same_frames() {
	sample "$2" "$ours"
	"$dump" "$2" frames <pcs >want.frames
	"$dump" "$1" frames <pcs >got.frames
	same "$1: frames of $2" want.frames got.frames
}

gcc_variants() {
	need gcc g++ nm readelf objdump eu-addr2line
	objects g5 g++ gcc -O2 -g
	objects g4 g++ gcc -O2 -gdwarf-4
	objects g0 g++ gcc -O0 -g
	for v in g5 g4 g0; do
		g++ $v.cc.o $v.c.o -o $v -lm || fail "link $v"
		symbols $v
		frames_by_eu $v
	done
	plt g5
	"$dump" g5 sample | cut -d' ' -f1 | "$dump" g5 frames >all.frames
	for name in 'outer::middle' 'outer::leaf' \
		'std::default_delete<outer::(anonymous namespace)::Shape>::operator()'; do
		grep -qxF "$name" all.frames || fail "no inlined $name"
	done
}

linkings() {
	need gcc g++ nm readelf objdump eu-addr2line
	objects g5 g++ gcc -O2 -g
	for v in lazy: now:-Wl,-z,now nopie:-no-pie ibt:-Wl,-z,lazy,-z,ibtplt lld:-fuse-ld=lld; do
		have ld.lld || [ "${v%%:*}" != lld ] || continue
		g++ g5.cc.o g5.c.o -o "${v%%:*}" "${v#*:}" -lm 2>/dev/null ||
			g++ g5.cc.o g5.c.o -o "${v%%:*}" -lm
		symbols "${v%%:*}"
		[ "${v%%:*}" = ibt ] || plt "${v%%:*}"
	done
	frames_by_eu lld
	# objdump can't name those; each target has a lazy stub and a second one.
	"$dump" ibt symbols | awk '$2 == "p" && $4 != ".plt" { print $4 }' | sort | uniq -d >got.plt
	objdump -R lazy | awk '/JUMP_SLOT/ { sub(/@.*/, "", $3); print $3 "@plt" }' | sort >want.plt
	same "ibt: PLT" want.plt got.plt
	ours='_ZN5outer|_ZNK5outer|other_file|hidden|compare$|main$'
	for v in -static -static-pie; do
		g++ g5.cc.o g5.c.o -o st$v $v -lm || fail "link $v"
		symbols st$v
		frames_by_eu st$v
		"$dump" st$v symbols | grep -q ' p .*memcpy@plt' || fail "$v: no memcpy@plt"
	done
}

clang_variants() {
	need clang clang++ nm readelf llvm-symbolizer
	objects c5 clang++ clang -O2 -gdwarf-5
	objects c4 clang++ clang -O2 -gdwarf-4 -ffunction-sections
	clang++ c5.cc.o c5.c.o -o c5 -lm || fail "link c5"
	linker=
	have ld.lld && linker=-fuse-ld=lld
	clang++ c4.cc.o c4.c.o -o c4 -lm -Wl,--gc-sections ${linker:+"$linker"} || fail "link c4"
	for v in c5 c4; do
		symbols $v
		frames_by_llvm $v
	done
	objects cs5 clang++ clang -O2 -gdwarf-5 -gsplit-dwarf
	objects cs4 clang++ clang -O2 -gdwarf-4 -gsplit-dwarf
	for v in cs5 cs4; do
		clang++ $v.cc.o $v.c.o -o $v -lm || fail "link $v"
		same_frames $v c5
	done
}

# Another machine's file: nothing in the reading depends on ours.
aarch64() {
	need clang ld.lld llvm-objdump
	printf 'int puts(const char *); int ext(int); int pub(int n) { puts("x"); return ext(n) + 1; }' >a.c
	for flags in '' '-mbranch-protection=standard -Wl,-z,force-bti'; do
		# shellcheck disable=SC2086 # words
		clang --target=aarch64-linux-gnu -O1 -g -fPIC -shared -nostdlib -fuse-ld=lld $flags \
			-Qunused-arguments a.c -o arm.so || fail "aarch64 $flags"
		llvm-objdump -d arm.so | sed -n 's/^0*\([0-9a-f]*\) <\(.*\)>:$/\1 \2/p' >want
		"$dump" arm.so symbols | awk '{ sub(/^0+/, "", $1); print $1, $4 }' >got
		same "aarch64 $flags: symbols" want got
	done
}

# The same program with its debug information moved about.
moved() {
	need gcc g++ objcopy strip xz readelf nm
	objects g5 g++ gcc -O2 -g
	g++ g5.cc.o g5.c.o -o g5 -lm -Wl,--build-id || fail "link"
	id=$(readelf -n g5 | sed -n 's/.*Build ID: //p')
	[ "$("$dump" g5 info | sed -n 's/^build-id //p')" = "$id" ] || fail "build-id"

	# by build-id
	rest=${id#??}
	mkdir -p "debug/.build-id/${id%"$rest"}"
	objcopy --only-keep-debug g5 "debug/.build-id/${id%"$rest"}/$rest.debug"
	strip -o by_id g5
	IMAGE_DEBUG_DIR=$work/debug
	export IMAGE_DEBUG_DIR
	same_frames by_id g5
	symbols by_id g5
	[ "$("$dump" by_id info | sed -n 's/^debug //p')" = \
		"$work/debug/.build-id/${id%"$rest"}/$rest.debug" ] || fail "debug path"
	unset IMAGE_DEBUG_DIR

	# by debuginfod, whose server is a directory here; only lines wait for it
	mkdir -p "served/buildid/$id"
	cp "debug/.build-id/${id%"$rest"}/$rest.debug" "served/buildid/$id/debuginfo"
	if ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1; then
		DEBUGINFOD_URLS=file://$work/served/ DEBUGINFOD_CACHE_PATH=$work/cache
		export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
		same_frames by_id g5
		"$dump" by_id symbols | grep -q ' fn_' || fail "symbols waited for debuginfod"
		# once the file is here, symbols are taken from it too
		"$dump" g5 lookup <pcs >want.later
		"$dump" by_id later <pcs >got.later
		same "symbols out of debuginfod's file" want.later got.later
		unset DEBUGINFOD_URLS
		sample g5 "$ours"
		"$dump" by_id frames <pcs | grep -q '^other_file' && fail "debuginfod without URLs"
	else
		echo "left out: no libdebuginfod.so.1"
	fi

	# by debuglink, beside it or in .debug, compressed, with and without build-id
	objcopy --only-keep-debug --compress-debug-sections=zlib g5 link.debug
	objcopy --strip-all --add-gnu-debuglink=link.debug g5 by_link
	same_frames by_link g5
	mkdir .debug && mv link.debug .debug/
	same_frames by_link g5
	objcopy --remove-section=.note.gnu.build-id g5 noid
	objcopy --only-keep-debug noid noid.debug 2>/dev/null
	objcopy --strip-all --add-gnu-debuglink=noid.debug noid by_crc
	same_frames by_crc g5
	symbols by_crc g5
	echo >>noid.debug
	"$dump" by_crc info | grep -qx 'debug ' || fail "a debuglink with the wrong checksum counts"

	# a debuglink is a name, not a path
	mkdir away && objcopy --only-keep-debug noid away/noid.debug 2>/dev/null
	objcopy --strip-all --add-gnu-debuglink=away/noid.debug noid by_path
	"$dump" by_path info | grep -qx 'debug ' || fail "a debuglink was followed as a path"

	# compressed in place, both ways, and zstd where objcopy has it
	for how in zlib zlib-gnu zstd; do
		if ! objcopy --compress-debug-sections=$how g5 "gz-$how" 2>/dev/null; then
			echo "left out: objcopy can't do $how"
			continue
		fi
		same_frames "gz-$how" g5
	done

	# mini debug information, as Fedora makes it
	nm -D g5 --format=posix --defined-only | awk '{ print $1 }' | sort >dynsyms
	nm g5 --format=posix --defined-only | awk '$2 ~ /[tTD]/ { print $1 }' | sort >funcsyms
	comm -13 dynsyms funcsyms >keep
	objcopy --only-keep-debug g5 mini.debug
	objcopy -S --remove-section .comment --keep-symbols=keep \
		mini.debug mini 2>/dev/null
	strip -o with_mini g5
	xz -kf mini && objcopy --add-section .gnu_debugdata=mini.xz with_mini
	readelf -sW mini 2>/dev/null | awk '$4 == "FUNC" && $7 != "UND" { print $2, $8 }' | LC_ALL=C sort -u >want
	"$dump" with_mini symbols | awk '$2 == "f" { print $1, $4 }' | LC_ALL=C sort -u >got
	LC_ALL=C comm -12 want got >both
	same "mini debug information" want both

	# stripped: the starts that nm knows, by .eh_frame
	strip -o bare g5
	"$dump" g5 symbols | awk '$2 == "f" && $3 > 0 { print $1 }' | sort -u >starts
	"$dump" bare symbols | awk '$2 == "u" { print $1 } $2 == "f" { print $1 }' | sort -u >got
	comm -12 starts got >both
	# _init and _fini have no call frame information, and no size
	same "function starts of a stripped program" starts both
	# ... but where the program begins, and where that leads, has its name.
	nm g5 | awk '$3 == "main" || $3 == "_start" { print $1, $3 }' | sort >begins
	"$dump" bare symbols | awk '$4 == "main" || $4 == "_start" { print $1, $4 }' | sort >got
	same "how a stripped program begins" begins got
	"$dump" bare symbols | awk '$2 == "u" && $4 != "main" && $4 != "_start" {
		sub(/^0+/, "", $1); if ($4 != "fn_" $1) print }' >bad
	[ -s bad ] && fail "names of functions without one"
	plt bare

	# no section headers at all
	"$dump" bare symbols | awk '$2 == "u" { print $1, $3, $4 }' >want
	cp bare headless && printf '\0\0\0\0\0\0\0\0' |
		dd of=headless bs=1 seek=40 conv=notrunc 2>/dev/null
	"$dump" headless symbols | awk '$2 == "u" { print $1, $3, $4 }' >got
	comm -23 want got | grep -v "$("$dump" bare symbols | awk '$2 == "p" { print substr($1, 1, 13); exit }')" >lost
	[ -s lost ] && fail "functions without section headers: $(head -3 lost)"
	readelf -sW --dyn-syms bare | awk '$4 == "FUNC" && $7 != "UND" { sub(/@.*/, "", $8); print $8 }' |
		sort -u >want
	printf '_start\nmain\n' | sort -u - want -o want # these say its code
	"$dump" headless symbols | awk '$2 == "f" { print $4 }' | sort -u >got
	cmp -s want got || fail "dynamic symbols without section headers"

	if have dwz; then
		cp g5 z1
		cp g5 z2
		dwz -m common.dwz z1 z2 || fail "dwz"
		same_frames z1 g5
	fi
	objects s5 g++ gcc -O2 -g -gsplit-dwarf
	objects s4 g++ gcc -O2 -gdwarf-4 -gsplit-dwarf
	for v in s5 s4; do
		g++ $v.cc.o $v.c.o -o $v -lm || fail "link $v"
		same_frames $v g5
	done
}

rust() {
	need rustc nm eu-addr2line
	for v in legacy v0; do
		RUSTC_BOOTSTRAP=1 rustc -Z unstable-options --edition 2021 --crate-name program -C opt-level=2 -C debuginfo=2 -C symbol-mangling-version=$v \
			-o rs-$v "$src/program.rs" 2>rustc.log || {
			echo "left out: rustc can't make $v names: $(head -1 rustc.log)"
			continue
		}
		symbols rs-$v
		nm rs-$v | awk '$2 ~ /[tT]/ { print $3 }' | grep -E 'program|_RN' | head -500 >mangled
		# c++filt shows the hashes of crates, which nobody wants to read
		c++filt <mangled | sed 's/\[[0-9a-f]\{8,16\}\]//g; s/::h[0-9a-f]\{16\}$//' >want
		"$dump" - demangle <mangled >got
		same "$v: demangled" want got
		grep -q 'program::count$' got || fail "$v: no program::count"
		sample rs-$v '.*program'
		llvm-symbolizer --no-demangle --obj=rs-$v -f=linkage -i -a --output-style=GNU <pcs |
			fold | blur >want.frames
		"$dump" rs-$v frames <pcs | fold | blur >got.frames
		same "$v: frames" want.frames got.frames
	done
}

# Programs that somebody else built.
installed() {
	need nm readelf c++filt
	for f in /usr/bin/gdb /usr/bin/python3 /lib/x86_64-linux-gnu/libc.so.6 \
		/usr/lib/x86_64-linux-gnu/libstdc++.so.6; do
		[ -e $f ] || {
			echo "left out: no $f"
			continue
		}
		IMAGE_DEBUG_DIR=$work symbols $f
		nm -D $f | awk '$2 ~ /[tTwW]/ { sub(/@.*/, "", $3); print $3 }' | grep ^_Z |
			grep -v 'S[absiod]' | head -3000 >mangled # c++filt spells std::string out
		[ -s mangled ] || continue
		c++filt <mangled >want
		"$dump" - demangle <mangled >got
		same "$f: demangled" want got
	done
}

case $subject in
gcc) gcc_variants ;;
linkings) linkings ;;
clang) clang_variants ;;
aarch64) aarch64 ;;
moved) moved ;;
rust) rust ;;
installed) installed ;;
*) fail "no subject $subject" ;;
esac
exit $failed
