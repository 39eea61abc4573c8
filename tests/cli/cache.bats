#!/usr/bin/env bats
# What is kept for later runs changes nothing but the time.

load helpers

build() {
	cat >"$1.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		static int odd(int n)
		{
			switch (n % 7) {
			case 0: return 3;
			case 1: return n > 4 || n == 1;
			case 2: return n;
			case 3: return -n;
			case 4: return n * n;
			default: return 0;
			}
		}
		static int sum(int n)
		{
			int s = 0, i;
			for (i = 0; i < n; i++)
				if (i & 1 && s < 1000)
					s += odd(i);
			return s;
		}
		int main(int argc, char **argv)
		{
			printf("%d\n", sum(argc > 1 ? atoi(argv[1]) : 30));
			return 0;
		}
	END
	cc -O0 -g -o "$1" "$1.c" "${@:2}"
}

entries() { find "$XDG_CACHE_HOME" -type f | sort; }

covered() {
	"$CPROF" cover -q -o "$1.data" "${@:2}"
	"$CPROF" export -f lcov -o "$1.info" "$1.data" 2>/dev/null
}

# hostile FILE SEED: changes a word of what is kept, under a sum that fits.
cat_hostile() {
	cat <<-'END'
		import random, struct, sys
		M = (1 << 64) - 1
		def u64(x):
		    x ^= x >> 33; x = x * 0xff51afd7ed558ccd & M; x ^= x >> 33
		    x = x * 0xc4ceb9fe1a85ec53 & M
		    return x ^ x >> 33
		def sum_of(b):
		    h = 0x9e3779b97f4a7c15 ^ len(b)
		    for i in range(0, len(b) - 7, 8):
		        h = u64(h ^ struct.unpack_from('<Q', b, i)[0]) + 0x9e3779b97f4a7c15 & M
		    rest = b[len(b) // 8 * 8:]
		    return u64(h ^ int.from_bytes(rest, 'little'))
		path, r = sys.argv[1], random.Random(int(sys.argv[2]))
		data = bytearray(open(path, 'rb').read())
		head, body = data[:56], data[56:]
		assert struct.unpack_from('<Q', head, 32)[0] == sum_of(body), 'not the sum'
		for _ in range(r.choice((1, 3))):
		    at = r.randrange(len(body) // 4) * 4
		    struct.pack_into('<I', body, at, r.choice((0, 1, 0xffffffff, 0x7fffffff, r.randrange(1 << 32))))
		if r.random() < .3:
		    body = body[:r.randrange(len(body))]
		struct.pack_into('<Q', head, 24, len(body))
		struct.pack_into('<Q', head, 32, sum_of(body))
		struct.pack_into('<Q', head, 48, sum_of(head[:48]))
		open(path, 'wb').write(head + body)
	END
}

@test "coverage is the same from what was kept, without it, and from what was damaged" {
	build program
	covered none --no-cache -- ./program 30
	[ ! -e "$XDG_CACHE_HOME/cprof" ]
	covered first -- ./program 30
	[ "$(entries | grep -c coverage)" = 1 ]
	"$CPROF" cover -q -v -v -o x.data -- ./program 30 2>log
	grep -q 'coverage of a run before' log
	covered second -- ./program 30
	cmp none.info first.info
	cmp none.info second.info
	# Whatever the other arguments are.
	covered none --no-cache -- ./program 3
	covered kept -- ./program 3
	cmp none.info kept.info
	covered none --no-cache --branches=none -- ./program 30
	covered kept --branches=none -- ./program 30
	covered kept --branches=none -- ./program 30
	cmp none.info kept.info
	covered none --no-cache -- ./program 30
	for way in 'truncate -s -9' 'truncate -s 20' 'truncate -s 0' 'sed -i s/program/PROGRAM/' 'chmod 0666'; do
		covered kept -- ./program 30
		for file in $(entries); do $way "$file"; done
		covered kept -- ./program 30
		cmp none.info kept.info
	done
}

@test "calls are the same from what was kept" {
	build program
	for times in 1 2 3; do
		"$CPROF" run -q -v -v -t program -o "$times.data" -- ./program 300 2>log
		"$CPROF" replay --json "$times.data" >"$times.json"
		python3 "$SOURCES/tests/cli/trees_judge.py" 1.json "$times.json"
		[ "$times" = 1 ] || [ "$(uname -m)" != x86_64 ] || grep -q 'windows of a run before' log
	done
}

@test "what was kept of another file with the same build-id is not believed" {
	build program -Wl,--build-id=0x0123456789abcdef
	covered first -- ./program 30
	sed 's/n > 4/n > 4 \&\& n < 90 \&\& n != 8/' program.c >other.c
	cc -O0 -g -o program other.c -Wl,--build-id=0x0123456789abcdef
	covered none --no-cache -- ./program 30
	covered kept -- ./program 30
	cmp none.info kept.info
	# Nor is anything kept of a file without one.
	rm -r "$XDG_CACHE_HOME"
	build program -Wl,--build-id=none
	covered kept -- ./program 30
	[ "$(entries | grep -c coverage)" = 0 ]
}

@test "an entry with a fitting sum and wrong numbers harms nobody" {
	local seed file status
	build program
	cat_hostile >hostile.py
	covered none --no-cache -- ./program 30
	for seed in $(seq "$(long_or 400 25)"); do
		rm -rf "$XDG_CACHE_HOME"
		covered kept -- ./program 30
		file=$(entries | grep coverage)
		python3 hostile.py "$file" "$seed"
		status=0
		"$CPROF" cover -q -o kept.data -- ./program 30 >out 2>err || status=$?
		# What it says may be wrong then, but all goes on.
		[ "$status" = 0 ] || { echo "seed $seed: $status"; cat err; return 1; }
		[ "$(cat out)" = "$(./program 30)" ]
	done
}

@test "nothing is kept where that is not the user's own affair" {
	build program
	mkdir -p home/.cache
	unset XDG_CACHE_HOME
	HOME=$PWD/home covered first -- ./program 30
	[ -d home/.cache/cprof ]
	rm -r home/.cache/cprof
	chmod 0777 home
	HOME=$PWD/home covered first -- ./program 30
	[ ! -e home/.cache/cprof ]
	chmod 0700 home
	HOME=$PWD/home covered first --no-cache -- ./program 30
	[ ! -e home/.cache/cprof ]
	[ "$(id -u)" = 0 ] || skip "not root"
	chown 65534 home
	HOME=$PWD/home covered first -- ./program 30
	[ ! -e home/.cache/cprof ]
}
