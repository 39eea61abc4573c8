#!/usr/bin/env bats
# Names that stand for something else: indirect functions; names that nothing has;
# what is said when nothing comes of them.

load helpers

# measured.c: measures one text 1,010 times, with POINTER 10 of them by a pointer,
# for which linkers make another entry of the offset table.
write_measured() {
	cat >measured.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		__attribute__((noinline)) void finished(size_t n) { printf("%zu\n", n); fflush(stdout); }
		int main(void)
		{
			static const char text[] = "thirteen char";
			size_t n = 0;
		#ifdef POINTER
			size_t (*volatile measure)(const char *) = strlen;
		#else
		#define measure strlen
		#endif
			setvbuf(stdin, NULL, _IONBF, 0);
			finished(strlen("warm"));
			do {
				for (int i = 0; i < 1000; i++)
					n += strlen(text);
				for (int i = 0; i < 10; i++)
					n += measure(text);
			} while (getchar() == 'x');
			finished(n);
			return 0;
		}
	END
}

# build NAME OPTION...: measured.c, so that each call is one.
build() {
	local name=$1
	shift
	gcc -O0 -g -fno-builtin "$@" -o "$name" measured.c
}

# measured_calls FILE FUNCTION: calls of it with the text, and what they answered.
measured_calls() {
	"$CPROF" replay --json "$1" | jq -r --arg f "$2" 'select(.function == $f) |
		if .event == "enter" then "\(.tid) \(.depth) enter \(.args[0].name) \(.args[0].type) \(.args[0].value)"
		else "\(.tid) \(.depth) \(.event) \(.result.type) \(.result.value)" end' |
		awk '/ enter / { mine = / thirteen char$/; if (mine) print $3, $4, $5, $6, $7; next }
			mine { print $3, $4, $5; mine = 0 }' | sort | uniq -c | sed 's/^ *//'
}

everything='1010 enter s const char *
1010 leave size_t 13'

@test "the name of an indirect function is what its resolver chose, however it is bound" {
	needs gcc jq
	write_measured
	build lazy -Wl,-z,lazy
	build now -Wl,-z,now
	build pointer -DPOINTER
	build fixed -no-pie
	build through_got -fno-plt
	build alone -static -DPOINTER
	build alone_pie -static-pie
	for how in lazy now pointer fixed through_got alone alone_pie; do
		"$CPROF" run -q -o x.data -t strlen -a -r --max-rate=0 -- "./$how" </dev/null >out
		assert_equal "$how: $(measured_calls x.data strlen)" "$how: $everything"
		assert_equal "$(cat out)" "$(printf '4\n13130')"
	done
	strip lazy
	"$CPROF" run -q -o x.data -t strlen@libc.so.6 -a -r --max-rate=0 -- ./lazy </dev/null >out
	assert_equal "$(measured_calls x.data strlen)" "$everything"
}

@test "gdb: it is the function that is in the offset table, under both names" {
	needs gcc gdb jq readelf
	write_measured
	build fixed -no-pie
	slot=$(readelf -rW fixed | awk '$5 ~ /^strlen(@|$)/ && $3 ~ /JUMP_SLO/ { print $1 }')
	gdb -batch -nx -ex 'set debuginfod enabled off' -ex 'break finished' \
		-ex 'run </dev/null >/dev/null' -ex "info symbol *(long *)0x${slot:?}" ./fixed >gdb.out 2>gdb.err || true
	own=$(awk '/ in section / { print $1; exit }' gdb.out)
	[[ $own == *strlen* ]]
	"$CPROF" run -q -o x.data -t strlen@libc -- ./fixed </dev/null >out
	run jq -r '.calls.functions[] | "\(.function) \(.linkage_name)"' <("$CPROF" report --json x.data)
	assert_output "strlen $own"
	run "$CPROF" report x.data
	assert_output --partial "strlen [$own]"
	# Asked for by its own name, with the types that the other is declared with.
	"$CPROF" run -q -o x.data -t "$own" -a -r --max-rate=0 -- ./fixed </dev/null >out
	assert_equal "$(measured_calls x.data "$own")" "$everything"
	# Both: it is one function, by its own name.
	"$CPROF" run -q -o x.data -t "$own,strlen@libc" -a -r --max-rate=0 -- ./fixed </dev/null >out
	assert_equal "$(measured_calls x.data "$own")" "$everything"
}

@test "callgrind: calls from inside the library are counted, too" {
	needs gcc jq valgrind
	cat >inside.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		int main(void)
		{
			char text[100];
			size_t n = 0;
			for (int i = 0; i < 50; i++) {
				snprintf(text, sizeof(text), "%s %d", "some text", i);
				n += strlen(text);
				free(strdup(text));
			}
			return n == 0;
		}
	END
	gcc -O1 -g -fno-builtin -o inside inside.c
	"$CPROF" run -q -o x.data -t 'main,strlen@libc' --max-rate=0 -- ./inside
	ours=$("$CPROF" replay --json x.data | jq -r 'select(.event == "enter" and .function == "strlen" and .depth > 0) | 1' | wc -l)
	valgrind --tool=callgrind --compress-strings=no --toggle-collect=main \
		--callgrind-out-file=callgrind.out ./inside 2>valgrind.err
	theirs=$(awk '/^cfn=/ { on = /=__strlen_/ } /^calls=/ && on { split($1, c, "="); n += c[2] } END { print n }' callgrind.out)
	[ "$theirs" -ge 150 ]
	assert_equal "$ours" "$theirs"
}

@test "attached: what was chosen before is read from the process" {
	needs gcc jq
	write_measured
	build lazy -Wl,-z,lazy
	build now -Wl,-z,now
	build alone -static
	mkfifo in
	for how in lazy now alone; do
		rm -f out
		"./$how" <in >out 2>err 3>&- &
		pid=$!
		started+=("$pid")
		exec 4>in
		until_true grep -q 4 out
		rm -f x.data attach.err
		"$CPROF" attach -v -q -o x.data -t strlen -a -r --max-rate=0 "$pid" 2>attach.err 3>&- 4>&- &
		local attached=$!
		until_true awk '/strlen is/ { on = 1 } on && / breakpoints$/ { found = 1 } END { exit !found }' attach.err
		printf x >&4
		exec 4>&-
		wait "$pid"
		wait "$attached"
		# What it measured before we came is not in it.
		assert_equal "$how: $(measured_calls x.data strlen)" "$how: $everything"
	done
}

@test "resolvers of a program and of what it loads: the program's own counts" {
	needs gcc jq
	cat >chosen.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		static int count;
		static int one(int a) { count++; return a + 1; }
		static int two(int a) { count++; return a + 2; }
		static int (*resolve(void))(int) { return getenv ? two : one; }
		int step(int a) __attribute__((ifunc("resolve")));
		#ifdef PROGRAM
		int main(void)
		{
			int (*run)(int), sum = 0;
			void *library = dlopen("./libchosen.so", RTLD_NOW);
			*(void **)&run = dlsym(library, "run");
			for (int i = 0; i < 20; i++)
				sum = step(sum);
			printf("%d %d %d\n", count, sum, run(30));
			return 0;
		}
		#else
		int run(int n) { int i, a = 0; for (i = 0; i < n; i++) a = step(a); return count; }
		#endif
	END
	gcc -O1 -g -fPIC -shared -Wl,-Bsymbolic -o libchosen.so chosen.c
	gcc -O1 -g -DPROGRAM -o chosen chosen.c
	for separator in '' @chosen @libchosen; do
		"$CPROF" run -q -o x.data -t "step$separator" -a -r -- ./chosen >out
		assert_equal "$(cat out)" '20 40 30'
		"$CPROF" replay --json x.data | jq -r 'select(.event == "enter") |
			"\(.image) \(.function) \(.args[0].name)"' | sort | uniq -c | sed 's/^ *//' >calls
		case $separator in
		'') want=$'20 chosen step a\n30 libchosen.so step a' ;;
		@chosen) want='20 chosen step a' ;;
		*) want='30 libchosen.so step a' ;;
		esac
		assert_equal "$(cat calls)" "$want"
	done
	"$CPROF" run -q -o x.data -t two -- ./chosen >out
	assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.event == "enter").function' | sort | uniq -c | sed 's/^ *//')" '50 two'
	"$CPROF" run -q -o x.data -t resolve,one -- ./chosen >out
	# The name of a resolver is that of what it chose.
	assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.event == "enter").function' | sort | uniq -c | sed 's/^ *//')" '50 resolve'
}

@test "what can't be told apart, or traced, is said" {
	needs gcc
	cat >same.c <<-'END'
		#include <string.h>
		#include <time.h>
		int main(void)
		{
			char a[64] = "x", b[64];
			memcpy(b, a, sizeof(a));
			memmove(a, b, sizeof(a));
			return time(NULL) == 0;
		}
	END
	gcc -O1 -fno-builtin -o same same.c
	# Whether they are one is the machine's choice; gdb says which it made.
	run "$CPROF" run -o x.data -t memmove@libc,memcpy@libc -- ./same
	assert_success
	names=$("$CPROF" replay x.data | grep -oE '(__)?mem[a-z_0-9]+' | sort -u | wc -l)
	if [ "$names" = 1 ]; then
		assert_output --regexp "'mem(cpy|move)' and 'mem(cpy|move)' are one function here, __mem"
	fi
	run "$CPROF" run -o x.data -t time@libc -- ./same
	assert_success
	assert_output --partial "what the resolver of 'time' chose is in [vdso], where no breakpoint can stand"
}

@test "--when: an argument that no function has is refused before the program starts" {
	needs gcc
	cat >painted.c <<-'END'
		#include <stdio.h>
		enum color { RED, GREEN };
		struct thing { int count; enum color color; };
		__attribute__((noinline)) int paint(struct thing *thing, enum color color, int layers)
		{
			thing->color = color;
			return thing->count += layers;
		}
		int main(void)
		{
			struct thing t = { 0 };
			for (int i = 0; i < 10; i++)
				paint(&t, i & 1, i);
			puts("ran");
			return getchar() == 'x';
		}
	END
	gcc -g -O1 -o painted painted.c
	for bad in 'layer > 5' 'colour == RED' 'RED == colour' 'colour == 1' 'thign->color == GREEN' 'layers > LEAST' '!layer' 'nosuch[1] == 2'; do
		run "$CPROF" run -o x.data -t paint --when "$bad" -- ./painted </dev/null
		assert_failure 125
		refute_line ran
		assert_line --regexp "^cprof: no function that matches 'paint' has an argument '[a-zA-Z]+'$"
		assert_line "cprof: the arguments there are: 'thing', 'color', 'layers'"
	done
	for good in 'layers > 5' 'color == RED' 'RED == color' 'thing->color == GREEN' 'thing != NULL && color & GREEN'; do
		run "$CPROF" run -q -o x.data -t paint --when "$good" -- ./painted </dev/null
		assert_success
		assert_output ran
	done
	# What another program has, nobody knows yet.
	run "$CPROF" run -q -o x.data -t paint --when 'layer > 5' -- sh -c ./painted </dev/null
	assert_success
	assert_line ran
	mkfifo in
	./painted <in >out 3>&- &
	pid=$!
	started+=("$pid")
	exec 4>in
	run "$CPROF" attach -d 1 -o x.data -t paint --when 'layer > 5' "$pid"
	assert_failure 2
	assert_line "cprof: the arguments there are: 'thing', 'color', 'layers'"
	exec 4>&-
}

# next_of FILE: the commands that a summary ends with.
next_of() { sed -n '/^Next$/,$ { /^  cprof /s/^  cprof //p }' "$1"; }

@test "nothing: a line says so and what to try; what is proposed shows something" {
	needs gcc
	cat >little.c <<-'END'
		#include <stdlib.h>
		__attribute__((noinline)) int once(int n) { return n + 1; }
		__attribute__((noinline)) int never(int n) { return n + 2; }
		int main(int argc, char **argv)
		{
			if (argc > 5)
				return never(argc);
			if (argc > 1)
				free(malloc((size_t)once(argc)));
			(void)argv;
			return 0;
		}
	END
	gcc -g -O1 -fno-builtin -o little little.c
	# What is said, and how many things are proposed.
	tried() {
		local proposed=$1 said=$2
		shift 2
		"$CPROF" run -o x.data "$@" 2>summary
		cat summary
		[ -z "$said" ] || grep -E "$said" summary
		next_of summary >commands
		assert_equal "$* $(wc -l <commands)" "$* $proposed"
		while read -r command; do
			eval "\"$CPROF\" $command" >shown 2>&1 </dev/null
			! grep '^No ' shown || return 1
			[ -s shown ] || [ -s flame.svg ] || [ -s trace.json ] || [ -s coverage/index.html ]
			rm -rf flame.svg trace.json coverage
		done <commands
	}
	tried 0 '^No calls: the function that is traced was not called\.$' -t never -- ./little
	tried 0 '^No calls: none of the 2 functions that are traced was called\.$' -t never,once -- ./little
	tried 0 '^No calls: the condition of --when held for none\.$' --traps -t once --when 'n > 100' -- ./little x
	tried 0 '^No calls: the function that is traced was not called, or the condition of --when held for none\.$' \
		-t once --when 'n > 100' -- ./little x
	tried 0 '^No samples: the program used .*CPU time, and one is taken each 1\.00 s\.$' -s 1 -- ./little
	tried 0 '^No allocations: ' --allocs -- ./little
	tried 0 '^No annotations: ' --annotations -- ./little
	tried 0 '' --locks -- ./little
	tried 0 '' --exceptions -- ./little
	tried 3 '' -t once -- ./little x
	tried 3 '' --allocs -- ./little x
	tried 2 '' --coverage -- ./little x
}

# Debian's redis-server is a link to redis-check-rdb. Judged by gdb, which shows what
# the kernel wrote into the auxiliary vector.
@test "a program that is started by a link has the link's name; both are understood" {
	needs gcc gdb jq
	cat >tool.c <<-END
		#include <stdio.h>
		__attribute__((noinline)) int step(int n) { return n + 1; }
		int main(void)
		{
			int n = step(1);
			puts("ready");
			fflush(stdout);
			while (getchar() == 'x')
				n = step(n);
			return n < 0;
		}
	END
	mkdir bin
	gcc -g -O1 -o bin/tool-real tool.c
	ln -s tool-real bin/tool
	assert_equal "$(gdb -batch -ex 'break step' -ex run -ex 'info auxv' bin/tool | sed -n 's/^31 .*"\(.*\)"$/\1/p')" \
		"$PWD/bin/tool"
	for spec in step@tool step@tool-real lib:tool lib:tool-real plt:puts@tool; do
		echo x | "$CPROF" run -q -o one.cprof -t "$spec" -- bin/tool >/dev/null
		"$CPROF" report --json one.cprof >one.json
		assert_equal "$spec $(jq -r '[.calls.functions[].image] | unique | join(" ")' one.json)" "$spec tool"
		assert_equal "$("$CPROF" functions --json bin/tool "$spec" | jq -r '[.[].image] | unique[]')" tool
	done
	run "$CPROF" run -t step@tol -- bin/tool
	assert_failure 125
	echo x | "$CPROF" run -q -o one.cprof -t program -- bin/tool >/dev/null
	assert_equal "$("$CPROF" report --json one.cprof | jq -r '.processes[0].started_as')" bin/tool
	for name in tool tool-real; do
		run "$CPROF" report --image=$name one.cprof
		assert_line --regexp ' tool +step'
		run "$CPROF" replay --filter=step@$name one.cprof
		assert_line --partial 'step('
		"$CPROF" replay --filter=lib:$name one.cprof | grep -q 'main('
	done
	run "$CPROF" report one.cprof
	assert_line --regexp "/bin/tool-real, started as bin/tool$"
	"$CPROF" merge -o two.cprof one.cprof one.cprof
	"$CPROF" report two.cprof | grep -qE ' tool +step'
	# One that runs already, and has left the directory it was started from.
	mkfifo input
	start sh -c 'cd bin && exec ./tool <../input'
	exec 7>input
	until_true grep -q ready out
	assert_equal "$("$CPROF" functions --json "$pid" step@tool | jq -r '.[].image')" tool
	"$CPROF" attach -q -o attached.cprof -d 1h -t step@tool "$pid" &
	profiler=$!
	is_seen() { printf x >&7 && "$CPROF" report attached.cprof | grep -qE ' tool +step'; }
	until_true is_seen
	kill -TERM "$profiler"
	wait "$profiler"
	exec 7>&-
	wait "$pid"
	assert_equal "$("$CPROF" report --json attached.cprof | jq -r '.processes[0].started_as')" ./tool
	# A script's interpreter was not started by its name.
	printf '#!%s/bin/tool-real\n' "$PWD" >script
	chmod +x script
	"$CPROF" run -q -o one.cprof -t step@tool-real -- ./script </dev/null >/dev/null
	assert_equal "$("$CPROF" report --json one.cprof | jq -r '.processes[0].started_as')" null
}

@test "a function has the name that its users know, also where a part of it is inlined into it" {
	cat >both.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		/* With a second thread, calls that can be cancelled go another way. */
		static void *waits(void *unused) { pause(); return unused; }
		int main(void)
		{
			char byte;
			double sum = 0;
			pthread_t t;
			int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
			pthread_create(&t, NULL, waits, NULL);
			for (int i = 0; i < 400000; i++)
				sum += read(zero, &byte, 1) + write(null, &byte, 1) + strtod("1.25", NULL);
			return sum != 400000 * 3.25;
		}
	END
	gcc -O1 -g -pthread -o both both.c
	"$CPROF" run -q -s 997 -o x.data -- ./both
	"$CPROF" report --json --functions x.data | jq -r '.samples.functions[].function' >names
	grep -qx read names
	grep -qx write names
	refute grep -E '^(__GI_|__libc_(read|write))' names
}
