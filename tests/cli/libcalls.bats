#!/usr/bin/env bats
# Calls of library functions through stubs.

load helpers

@test "the system's headers type what library functions are called with" {
	cat >calls.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		int main(void)
		{
			char text[20];
			int fd = open("/dev/null", O_RDWR);
			double x = strtod("2.25", NULL);

			snprintf(text, sizeof(text), "%g", x);
			return write(fd, text, strlen(text)) != 4 || setenv("NAME", "value", 1) || atoi("7") != 7;
		}
	END
	${CC:-cc} -O0 -fno-builtin -o calls calls.c
	strip calls
	"$CPROF" run -q -o x.data -t 'plt:open,plt:strtod,plt:write,plt:strlen,plt:setenv,plt:atoi' -a -- ./calls
	"$CPROF" replay --json x.data | jq -r 'select(.event == "enter") | .function + " " +
		([.args[] | select(.name) | "\(.name)=\(.value) \(.type)"] | join(", "))' >out
	grep -xF 'open@plt file=/dev/null const char *, oflag=2 int' out
	grep -E '^strtod@plt nptr=2.25 .*, endptr=0x0 ' out
	grep -E '^write@plt fd=[0-9]+ int, buf=.* const void \*, n(bytes)?=4 size_t$' out
	grep -F 'strlen@plt s=2.25 const char *' out
	grep -F 'setenv@plt name=NAME const char *, value=value const char *, replace=1 int' out
	grep -F 'atoi@plt nptr=7 const char *' out
}

# gcc describes the transparent unions that they are declared with without members.
@test "sockets: addresses and what comes after them are what the program says" {
	needs jq
	cat >sockets.c <<-'END'
		#define _GNU_SOURCE
		#include <arpa/inet.h>
		#include <stdio.h>
		#include <sys/socket.h>
		/* Named as none of the system's are. */
		__attribute__((noinline)) int own(int fd, __CONST_SOCKADDR_ARG address, socklen_t length, int more)
		{
			printf("own %d %d %d\n", fd, (int)length, more);
			return address.__sockaddr__ != NULL;
		}
		int main(void)
		{
			struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
			struct sockaddr *any = (struct sockaddr *)&in;
			struct sockaddr_storage from = { 0 };
			struct sockaddr *to = (struct sockaddr *)&from;
			char buffer[10];
			socklen_t n = sizeof(in), m = sizeof(from);
			int s = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), d;

			printf("bind %d %d %d\n", s, AF_INET, (int)n), fflush(stdout);
			bind(s, any, n);
			printf("getsockname %d %d %d\n", s, AF_INET, (int)n), fflush(stdout);
			getsockname(s, any, &n);
			listen(s, 5);
			printf("connect %d %d %d\n", c, AF_INET, (int)n), fflush(stdout);
			connect(c, any, n);
			printf("accept4 %d %d %d %d\n", s, 0, (int)m, SOCK_CLOEXEC), fflush(stdout);
			d = accept4(s, to, &m, SOCK_CLOEXEC);
			printf("getpeername %d %d %d\n", d, AF_INET, (int)m), fflush(stdout);
			getpeername(d, to, &m);
			d = socket(AF_INET, SOCK_DGRAM, 0);
			printf("sendto %d 5 0 %d %d\n", d, AF_INET, (int)n), fflush(stdout);
			sendto(d, "hello", 5, 0, any, n);
			printf("recvfrom %d 10 %d %d %d\n", d, MSG_DONTWAIT, AF_INET, (int)m), fflush(stdout);
			recvfrom(d, buffer, 10, MSG_DONTWAIT, to, &m);
			return own(d, any, 16, 77) - 1;
		}
	END
	local level
	for level in 0 2; do
		${CC:-cc} -g -O$level -o sockets sockets.c
		# Stubs, and the functions themselves, whose debug information may be installed.
		for what in plt:bind,plt:getsockname,plt:connect,plt:accept4,plt:getpeername,plt:sendto,plt:recvfrom,own \
			bind,getsockname,connect,accept4,getpeername,sendto,recvfrom,own; do
			"$CPROF" run -q -o x.data -t "$what" -a -- ./sockets >said
			"$CPROF" replay --json x.data | jq -r 'select(.event == "enter") |
				(.function | sub("@plt"; "") | sub("^_+(libc_)?"; "")) + " " + ([.args[] |
				if .error or (.type | test("void \\*")) then empty
				elif (.type | test("SOCKADDR_ARG")) then .value.sa_family
				else .value end] | map(tostring) | join(" "))' >told
			diff said told
		done
	done
	"$CPROF" run -q -o x.data -t own -a -- ./sockets >said
	"$CPROF" replay --json x.data | jq -r 'select(.event == "enter") | .args[1].error' |
		grep -x unavailable
}

# told FILE: events of a recording in order, "FUNCTION EVENT" a line, of the
# process that began it.
told() {
	"$CPROF" replay --json "$1" |
		jq -rs '.[0].pid as $p | .[] | select(.pid == $p and (.event | IN("enter", "leave", "unwind", "tail_call"))) |
			"\(.function) \(.event)"'
}

@test "debug information of what a stub leads to comes first" {
	cat >library.c <<-'END'
		struct point { int x; double y; };
		enum color { RED, GREEN = 4, BLUE };
		struct point *make_point(int x, double y, enum color c)
		{
			static struct point p;
			p.x = x;
			p.y = y + c;
			return &p;
		}
		int atoi(const char *text) { return text[0] == '7'; } /* not the C library's */
	END
	cat >calls.c <<-'END'
		struct point;
		struct point *make_point(int, double, int);
		int atoi(const char *);
		int main(void) { return !make_point(1, 2.5, 4) || atoi("7") != 1; }
	END
	${CC:-cc} -g -O1 -fno-builtin -fPIC -shared -o liblibrary.so library.c
	${CC:-cc} -O1 -fno-builtin -o calls calls.c -L. -llibrary -Wl,-rpath,"$PWD"
	strip calls
	# Also in the second process, which needs only the placing.
	"$CPROF" run -q -o x.data -t 'plt:*' -a -r -- sh -c './calls && ./calls'
	"$CPROF" replay --json x.data | jq -r 'select(.event == "enter" and .image == "calls" and
		(.function | startswith("__") | not)) |
		"\(.function) " + ([.args[] | "\(.name)=\(.text)"] | join(", "))' >out
	assert_equal "$(cat out)" 'make_point@plt x=1, y=2.5, c=GREEN
atoi@plt text="7"
make_point@plt x=1, y=2.5, c=GREEN
atoi@plt text="7"'
	"$CPROF" replay x.data | grep -qF ' = &{x=1, y=6.5} '
}

@test "without the file of what headers declare there are registers, and a note" {
	echo 'int getppid(void) { return 7; }' >library.c
	${CC:-cc} -fPIC -shared -o liblibrary.so library.c
	echo 'int getppid(void); int main(void) { return getppid() != 7; }' >calls.c
	${CC:-cc} -o calls calls.c -L. -llibrary -Wl,-rpath,"$PWD"
	"$CPROF" run -q -o x.data -t 'plt:getppid' -a -r -- ./calls
	"$CPROF" replay x.data | grep -qF 'getppid@plt() = 7 '
	mkdir bin
	cp "$CPROF" bin/cprof
	separately bin/cprof run -o x.data -t 'plt:getppid' -a -r -- ./calls
	if [[ $stderr == *'have no types: '* ]]; then
		"$CPROF" replay x.data | grep -qF 'getppid@plt(rdi='
	else # one is installed
		"$CPROF" replay x.data | grep -qF 'getppid@plt() = 7 '
	fi
}

@test "a call through a stub lasts until what it leads to returns, or is left" {
	cat >stubs.c <<-'END'
		#define _GNU_SOURCE
		#include <setjmp.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static jmp_buf env;
		static int number(const void *a, const void *b)
		{
			return (int)(strtol(*(char **)a, NULL, 10) - strtol(*(char **)b, NULL, 10));
		}
		static int jumper(const void *a, const void *b)
		{
			(void)a, (void)b;
			longjmp(env, 7);
		}
		__attribute__((noinline)) char *tail(const char *s) { return strdup(s); }
		int main(void)
		{
			char *texts[] = { "3", "1" };
			volatile int rounds = 0;
			int status;
			pid_t pid;

			qsort(texts, 2, sizeof(*texts), number);
			if (setjmp(env) < 7 || rounds < 2) {
				rounds++;
				qsort(texts, 2, sizeof(*texts), jumper);
			}
			free(tail(texts[0]));
			pid = vfork();
			if (!pid) {
				getppid();
				_exit(3);
			}
			waitpid(pid, &status, 0);
			pid = fork();
			if (!pid)
				_exit(getpid() == getppid());
			waitpid(pid, &status, 0);
			exit(rounds);
		}
	END
	for flags in '-Wl,-z,lazy' '-Wl,-z,now' '-fcf-protection=full -Wl,-z,ibtplt,-z,lazy' \
		-fno-plt '-fno-plt -fcf-protection=full' '-fno-plt -fno-pie -no-pie'; do
		# shellcheck disable=SC2086 # words
		${CC:-cc} -O2 $flags -o stubs stubs.c
		strip stubs
		run -2 "$CPROF" run -q -o x.data -t 'plt:*,-plt:__cxa_finalize' -a -r -- ./stubs
		assert_equal "$(told x.data)" "qsort@plt enter
strtol@plt enter
strtol@plt leave
strtol@plt enter
strtol@plt leave
qsort@plt leave
_setjmp@plt enter
_setjmp@plt leave
qsort@plt enter
longjmp@plt enter
longjmp@plt unwind
qsort@plt unwind
qsort@plt enter
longjmp@plt enter
longjmp@plt unwind
qsort@plt unwind
strdup@plt enter
strdup@plt leave
free@plt enter
free@plt leave
vfork@plt enter
vfork@plt leave
waitpid@plt enter
waitpid@plt leave
fork@plt enter
fork@plt leave
waitpid@plt enter
waitpid@plt leave
exit@plt enter
exit@plt unwind"
		"$CPROF" replay x.data >text
		grep -qE 'qsort@plt\(0x[0-9a-f]+, 2, 8, .*\) \{$' text
		grep -qF 'strtol@plt("1", NULL, 10) = 1 ' text
		grep -qE '^ +[0-9.]+ +stubs +([0-9]+)  +fork@plt\(\) = [1-9][0-9]*  ' text
		grep -qF 'strdup@plt("1") = "1" ' text
	done
}

@test "time is that of what was called" {
	cat >sleeps.c <<-'END'
		#include <time.h>
		int main(void)
		{
			struct timespec t = { 0, 20000000 };
			for (int i = 0; i < 5; i++)
				nanosleep(&t, 0);
			return 0;
		}
	END
	${CC:-cc} -O2 -o sleeps sleeps.c
	"$CPROF" run -q -o x.data -t 'plt:nanosleep' -a -- ./sleeps
	"$CPROF" replay --json x.data >x.json
	assert_equal "$(jq -s '[.[] | select(.event == "leave" and .duration_ns >= 20000000)] | length' x.json)" 5
	jq -es '.[0].args[0].text == "&{tv_sec=0, tv_nsec=20000000}"' x.json
}

@test "stubs of sqlite3, stripped: as often as ltrace says" {
	needs ltrace sqlite3
	local sql='create table t(a,b); insert into t values(1,2),(3,4); select sum(a*b) from t;'
	ltrace -c -o ltrace.out sqlite3 :memory: "$sql"
	"$CPROF" run -q -o x.data --max-rate=0 -t 'plt:*' -a -r -- sqlite3 :memory: "$sql" >out
	assert_equal "$(cat out)" 14
	"$CPROF" report --json x.data |
		jq -r '.calls.functions[] | "\(.function | sub("@plt"; "")) \(.calls)"' >counts
	awk 'NF == 5 && $4 ~ /^[0-9]+$/ { print $5, $4 }' ltrace.out | sort >expected
	[ "$(wc -l <expected)" -gt 30 ]
	# ltrace does not know stubs of functions whose address is taken.
	grep -xFf expected counts | sort >same
	diff expected same
	"$CPROF" replay x.data >text
	grep -qF 'sqlite3_open_v2@plt(":memory:", ' text || grep -qF 'sqlite3_open@plt(":memory:", ' text
	grep -qE 'isatty@plt\([01]\) = 0 ' text
}

@test "names of C++; exceptions end calls through stubs; not other images' stubs" {
	cat >library.cpp <<-'END'
		#include <stdexcept>
		#include <string>
		std::string library(int n) { return n < 0 ? throw std::out_of_range("n") : std::to_string(n); }
	END
	cat >calls.cpp <<-'END'
		#include <exception>
		#include <string>
		std::string library(int);
		volatile int sum;
		int main()
		{
			for (int i = -3; i < 2; i++) {
				try {
					sum += library(i)[0];
				} catch (std::exception &) {
					sum++;
				}
			}
			return sum - '0' - '1' - 3;
		}
	END
	${CXX:-c++} -O2 -fPIC -shared -o liblibrary.so library.cpp
	${CXX:-c++} -O2 -o calls calls.cpp -L. -llibrary -Wl,-rpath,"$PWD"
	strip calls liblibrary.so
	"$CPROF" run -q -o x.data -t 'plt:library' -r -- ./calls
	assert_equal "$(told x.data)" "$(for how in unwind unwind unwind leave leave; do
		printf 'library[abi:cxx11](int)@plt %s\n' enter $how; done)"
	"$CPROF" run -q -o x.data -t 'plt:*' --exceptions -- ./calls
	assert_equal "$(told x.data | grep -c '^library.* unwind')" 3
	assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.event == "enter").image' | sort -u)" calls
	"$CPROF" run -q -o x.data -t 'plt:std::*@liblibrary.so' -- ./calls
	assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.event == "enter").image' | sort -u)" \
		liblibrary.so
	"$CPROF" run -q -o x.data -t 'plt:*,lib:liblibrary.so' -- ./calls
	assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.event == "enter").image' | sort -u |
		tr '\n' ' ')" "calls liblibrary.so "
}

@test "arguments of printf and its like are those that the format tells, others are ..." {
	cat >formats.c <<-'END'
		#include <fcntl.h>
		#include <stdarg.h>
		#include <stdio.h>
		static char b[400];
		__attribute__((noinline)) int my_printf(int level, const char *format, ...)
		{
			va_list list;
			int n;

			va_start(list, format);
			n = vsnprintf(b, sizeof(b), format, list);
			va_end(list);
			return n + level;
		}
		int main(void)
		{
			char apart[3] = { 'a', 'b', 'c' };
			snprintf(b, sizeof(b), "%s is %d of %5.2f%% %c\n", "this", -42, 2.5, 'x');
			snprintf(b, sizeof(b), "%2$s %1$d %2$.1s", 7, "seven");
			snprintf(b, sizeof(b), "%3$*1$d %2$s", 4, "three", 9);
			snprintf(b, sizeof(b), "%*d|%-*.*f|%.*s|", 5, 3, 8, 2, 1.5, 3, apart);
			snprintf(b, sizeof(b), "%ld %lu %zu %hhd %Lf %x %m", -1L, -1UL, (size_t)3, (char)-1, 1.25L, ~0u);
			snprintf(b, sizeof(b), "%d %d %d %d %d %s %g %d %s", 1, 2, 3, 4, 5, "six", 7.5, 8, "nine");
			snprintf(b, sizeof(b), "%g %g %g %g %g %g %g %g %g %g", .5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5);
			my_printf(1, "%s %llu", "one", 2ULL);
			return open("/dev/null", O_WRONLY | O_CREAT, 0600) < 0;
		}
	END
	local expected='"this", -42, 2.5, '"'x'"'
7, "seven"
4, "three", 9
5, 3, 8, 2, 1.5, 3, "abc"
-1, 18446744073709551615, 3, -1, 1.25, 4294967295
1, 2, 3, 4, 5, "six", 7.5, 8, "nine"
0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5'
	for flags in '-O0 -g' '-O2 -D_FORTIFY_SOURCE=2'; do
		# shellcheck disable=SC2086 # words
		${CC:-cc} -w -fno-builtin $flags -o formats formats.c
		"$CPROF" run -q -o x.data -t 'plt:*snprintf*,-plt:*vsnprintf*' -a -r -- ./formats
		"$CPROF" replay --json x.data | jq -r 'select(.event == "enter") | .args |
			to_entries | (map(select(.value.name == "format"))[0].key) as $f |
			[.[$f + 1:][].value.text] | join(", ")' >out
		assert_equal "$(cat out)" "$expected"
	done
	${CC:-cc} -w -O1 -g -fno-builtin -o formats formats.c
	"$CPROF" run -q -o x.data -t 'my_printf,plt:open' -a -r -- ./formats
	"$CPROF" replay x.data >text
	grep -qF 'my_printf(1, "%s %llu", "one", 2) = 6 ' text
	grep -qE 'open@plt\("/dev/null", [0-9]+, …\) = [0-9]+ ' text
}

@test "what a static program calls is its own; what it only takes the address of is not called" {
	echo 'int getppid(void); int main(void) { return getppid() == 0; }' >calls.c
	${CC:-cc} -O1 -static -o calls calls.c
	separately "$CPROF" run -q -o x.data -t plt:getppid,main -- ./calls
	[[ $stderr == *"no call of a library function was found that matches 'plt:getppid'"* ]]
	cat >calls.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void) { atexit(abort); puts("x"); fflush(stdout); _exit(0); }
	END
	${CC:-cc} -O1 -fno-plt -o calls calls.c
	separately "$CPROF" run -q -o x.data -t plt:abort,plt:puts -- ./calls
	[[ $stderr == *"was found that matches 'plt:abort'"* ]]
	assert_equal "$(told x.data)" "puts@plt enter
puts@plt leave"
}

# Calls from PROGRAM into other files, of which callgrind says how often: "NAME CALLS"
# a line. What a function of the C library is called for this processor is left out.
judged() {
	valgrind --tool=callgrind --callgrind-out-file=callgrind.out "$@" >judged.out 2>judged.err
	python3 - callgrind.out "$(realpath "$1")" <<-'END'
		import collections, re, sys

		names, objects, calls = {}, {}, collections.Counter()
		def known(table, text):
		    number, name = re.match(r"\((\d+)\)(?: (.*))?$", text).groups()
		    if name is not None:
		        table[number] = name
		    return table[number]

		of = called = name = None
		for line in open(sys.argv[1]):
		    key, _, value = line.rstrip("\n").partition("=")
		    if key == "ob":
		        of = known(objects, value)
		    elif key == "fn":
		        known(names, value)
		    elif key == "cob":
		        called = known(objects, value)
		    elif key == "cfn":
		        name = known(names, value)
		    elif key == "calls":
		        if of == sys.argv[2] and (called or of) != of:
		            plain = re.sub(r"'\d+$|@.*", "", name)
		            plain = re.sub(r"^__((?:mem|str)[a-z]*)_[a-z0-9_]*$", r"\1", plain)
		            calls[{"bcmp": "memcmp", "memmove": "memcpy", "mmap64": "mmap"}.get(plain, plain)] += int(value.split()[0])
		        called = None
		for name in sorted(calls):
		    print(name, calls[name])
	END
}

# The same by cprof.
counted() {
	"$CPROF" run -q -o x.data --max-rate=0 -t 'plt:*' -- "$@" >counted.out
	"$CPROF" report --json x.data | jq -r '.calls.functions[] | "\(.function | rtrimstr("@plt")) \(.calls)"' |
		sed 's/^bcmp /memcmp /; s/^memmove /memcpy /; s/^mmap64 /mmap /' |
		awk '{ n[$1] += $2 } END { for (name in n) print name, n[name] }' | LC_ALL=C sort
}

@test "calls without stubs, as Rust and clang make them: as often as callgrind says" {
	needs valgrind rustc clang
	cat >program.rs <<-'END'
		use std::collections::BTreeMap;
		use std::io::Write;
		fn main() {
		    let mut words: BTreeMap<String, usize> = BTreeMap::new();
		    for i in 0..300u32 {
		        *words.entry(format!("word{}", i * i % 71)).or_insert(0) += 1;
		    }
		    let out = std::io::stdout();
		    let mut out = out.lock();
		    for (w, n) in &words {
		        writeln!(out, "{} {}", w, n).unwrap();
		    }
		}
	END
	rustc -O -o rust program.rs
	# Addresses that are loaded before a loop, kept across a switch, and on one way of two.
	cat >program.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		__attribute__((noinline)) int turn(int n, const char *text)
		{
			switch (n % 7) {
			case 0: return atoi(text) + atoi(text + 1);
			case 1: return getuid() + atoi(text);
			case 2: return puts(text);
			case 3: return getppid() > 0 && puts(text) && puts("again");
			case 4: return n;
			case 5: return getppid() > 1;
			default: return strlen(text) + atoi("1") + getuid();
			}
		}
		__attribute__((noinline)) int either(int n, int (*other)(const char *))
		{
			int (*f)(const char *) = n % 3 ? atoi : other;
			int sum = 0;

			while (n--)
				sum += f("12") + puts("either");
			return sum;
		}
		int main(int argc, char **argv)
		{
			int sum = 0, i;

			for (i = 0; i < 40 + argc; i++) {
				char *copy = strdup(argv[0]);

				sum += turn(i, copy);
				free(copy);
			}
			sum += either(4, atoi) + either(6, puts);
			return sum == 7;
		}
	END
	clang -O2 -fno-plt -fno-builtin -o clang program.c
	[ "$(objdump -d clang | grep -c 'call.*\*%r')" -gt 3 ]
	for program in rust clang; do
		judged ./$program | LC_ALL=C sort >expected
		counted ./$program >got
		cmp judged.out counted.out
		# Not of the program's own making, or by an address that came another way.
		grep -vE '^(__libc_start_main|__cxa_finalize|__pthread_get_minstack|0x[0-9a-f]*) ' expected >expected.calls
		grep -vE '^__cxa_finalize ' got >got.calls
		if [ $program = clang ]; then # the function of `either` is whatever it was given
			grep -vE '^(atoi|puts) ' expected.calls >expected.sure
			grep -vE '^(atoi|puts) ' got.calls >got.sure
			diff expected.sure got.sure
			awk 'NR == FNR { most[$1] = $2; next } $2 > most[$1] { exit 1 }' expected.calls got.calls
		else
			diff expected.calls got.calls
			[ "$(wc -l <got.calls)" -gt 10 ]
		fi
	done
}

@test "stubs and calls without in one program: each once; a library's own; in its place" {
	cat >with.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		int with(void) { puts("stub"); return getppid(); }
	END
	cat >without.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		int with(void);
		int (*volatile by_address)(const char *);
		__attribute__((noinline)) char *tail(const char *s) { return strdup(s); }
		__attribute__((noinline)) int two(void) { return getppid() + getuid() + getppid(); }
		int main(void)
		{
			int (*loaded)(const char *);

			by_address = puts;
			puts("direct");
			by_address("by address");
			with();
			free(tail("x"));
			two();
			loaded = (int (*)(const char *))dlsym(dlopen("./loaded.so", RTLD_NOW), "loaded");
			return loaded("12") != 12;
		}
	END
	echo 'int atoi(const char *); int own(const char *t) { return atoi(t); }
		int loaded(const char *t) { return own(t); }' >loaded.c
	${CC:-cc} -O2 -fno-plt -fno-inline -fno-builtin -fPIC -shared -o loaded.so loaded.c
	for flags in '-fno-pie -no-pie' '-fPIE -pie'; do
		# shellcheck disable=SC2086 # words
		${CC:-cc} -O2 $flags -fno-builtin -c with.c
		# shellcheck disable=SC2086
		${CC:-cc} -O2 $flags -fno-plt -fno-builtin -c without.c
		# shellcheck disable=SC2086
		${CC:-cc} $flags -o program without.o with.o
		"$CPROF" functions program 'plt:*' >list
		[ "$(grep -c ' puts@plt' list)" = 1 ]
		[ "$(grep -c ' strdup@plt' list)" = 1 ]
		"$CPROF" run -q -o x.data -t 'plt:*,-plt:__cxa_finalize,lib:loaded.so,tail,two' -a -r -- ./program
		# In a program at a fixed place the address of puts() is its stub's.
		assert_equal "$(told x.data | grep -vE '^(puts@plt|_init|_fini|frame_dummy|.*tm_clones|__do_.*) ')" "getppid@plt enter
getppid@plt leave
tail enter
tail tail_call
strdup@plt enter
strdup@plt leave
free@plt enter
free@plt leave
two enter
getppid@plt enter
getppid@plt leave
getuid@plt enter
getuid@plt leave
getppid@plt enter
getppid@plt leave
two leave
dlopen@plt enter
dlopen@plt leave
dlsym@plt enter
dlsym@plt leave
loaded enter
loaded tail_call
own enter
own tail_call
atoi@plt enter
atoi@plt leave"
		"$CPROF" replay x.data >text
		grep -qE ' tail\(.*\) ⇒ strdup@plt\("x"\) = "x" ' text
		grep -qE ' own\(.*\) ⇒ atoi@plt\("12"\) = 12 ' text
		grep -qF 'puts@plt("direct") = 7 ' text
		grep -qF 'puts@plt("stub") = 5 ' text
		[ "$(grep -c 'puts@plt("by address")' text)" -le 1 ]
	done
}

@test "mangled names type what they promise, and no more" {
	cat >shape.hpp <<-'END'
		#include <string>
		struct Shape {
			Shape(int, const char *);
			Shape(std::string, int);
			virtual ~Shape();
			int area(int) const;
			double x[9];
		};
		struct Base : virtual Shape {
			Base(int, unsigned char);
		};
		template <typename T> T *least(T *a, long n, bool b);
		extern template short *least<short>(short *, long, bool);
		template <typename T> T copy(T *a, int n);
		extern template std::string copy<std::string>(std::string *, int);
		double mean(double a, float b);
		std::string name(int n);
		int plain(int n, const char *t);
	END
	cat >library.cpp <<-'END'
		#include <cstdio>
		#include "shape.hpp"
		Shape::Shape(int n, const char *t) { printf("Shape::Shape(int, char const*) %p %d \"%s\"\n", (void *)this, n, t); }
		Shape::Shape(std::string, int) { printf("Shape::Shape(std::string, int) %p ...\n", (void *)this); }
		Shape::~Shape() { printf("Shape::~Shape() %p\n", (void *)this); }
		int Shape::area(int n) const { return n; }
		Base::Base(int n, unsigned char c) : Shape(n, "base") { printf("Base::Base(int, unsigned char) %p %d %d\n", (void *)this, n, c); }
		template <typename T> T *least(T *a, long n, bool b) { printf("short* least<short>(short*, long, bool) %p %ld %s\n", (void *)a, n, b ? "true" : "false"); return a; }
		template short *least<short>(short *, long, bool);
		template <typename T> T copy(T *a, int n) { return n ? *a : T(); }
		template std::string copy<std::string>(std::string *, int);
		double mean(double a, float b) { printf("mean(double, float) %g %g\n", a, (double)b); return a + (double)b; }
		std::string name(int n) { return std::to_string(n); }
		int plain(int n, const char *t) { return n + t[0]; }
	END
	cat >calls.cpp <<-'END'
		#include "shape.hpp"
		int main()
		{
			short many[4] = {};
			std::string text = "text";
			Shape *s = new Shape(-7, "seven"), t(text, 3);
			Base b(4, 200);

			least(many, -2L, true);
			mean(1.5, 2.25f);
			return s->area(1) + (int)(name(5) + copy(&text, 1)).size() + plain(3, "t") == 0;
		}
	END
	${CXX:-c++} -O1 -fPIC -shared -o liblibrary.so library.cpp
	for flags in -O1 '-O1 -fno-plt'; do
		# shellcheck disable=SC2086 # words
		${CXX:-c++} $flags -o calls calls.cpp -L. -llibrary -Wl,-rpath,"$PWD"
		"$CPROF" run -q -o x.data -t 'plt:*' -a -r -- ./calls >expected
		"$CPROF" replay --json x.data >x.json
		# What the library says that it was called with, by the program: not the base's constructor.
		jq -r 'select(.event == "enter" and .image == "calls" and .args[0].name != "rdi") |
			"\(.function | rtrimstr("@plt") | gsub("std::__cxx11::basic_string<.* >"; "std::string")) " +
			([.args[].text] | map(if . == "…" then "..." else . end) | join(" "))' x.json |
			grep -E '^(Shape|Base|short|mean)' >got
		grep -v '"base"' expected | diff - got
		jq -r 'select(.event == "enter" and .image == "calls") | select(.args[0].name == "rdi").function' x.json |
			sort -u >registers
		for unknown in 'Shape::area(int) const@plt' 'name\[abi:cxx11\](int)@plt' 'plain(int, char const\*)@plt'; do
			grep -qx "$unknown" registers
		done
		grep -q 'copy<std::' registers # gives what may be returned in memory
		jq -es 'map(select(.event == "enter" and (.function | startswith("operator new")))) |
			length == 1 and .[0].args[0].value == 80' x.json
	done
}

# By name on several threads; then nothing is left of it.
@test "calls without stubs of a running program, on four threads" {
	cat >threads.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		static volatile int stop;
		static long wrong;
		static void *work(void *arg)
		{
			sigset_t all;

			sigfillset(&all);
			pthread_sigmask(SIG_BLOCK, &all, NULL);
			while (!stop) {
				wrong += atoi("12") != 12 || labs(-(long)arg) != (long)arg;
				usleep(100);
			}
			return NULL;
		}
		int main(void)
		{
			pthread_t t[4];
			long i;

			for (i = 0; i < 4; i++)
				pthread_create(&t[i], NULL, work, (void *)i);
			while (access("stop", F_OK))
				usleep(1000);
			stop = 1;
			for (i = 0; i < 4; i++)
				pthread_join(t[i], NULL);
			return wrong != 0;
		}
	END
	${CC:-cc} -O2 -fno-plt -fno-builtin -pthread -o threads threads.c
	start ./threads
	until_true grep -q '^Threads:[[:space:]]*5' "/proc/$pid/status"
	"$CPROF" attach -q -o x.data -t 'plt:atoi,plt:labs' -a -r -d 1s "$pid"
	"$BATS_TEST_DIRNAME/text_of" "$pid"
	touch stop
	wait "$pid"
	"$CPROF" replay --json x.data >x.json
	jq -es 'map(select(.event == "leave" and .result)) | length > 40 and
		all(.result.value == 12 or .function == "labs@plt")' x.json
	jq -es 'map(select(.event == "enter" and .function == "labs@plt") | .args[0].text) | unique == ["-1", "-2", "-3", "0"]' x.json
}

@test "a format may say anything, and no more is told of it than is true" {
	cat >hostile.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		/* Of the family by its name, whatever it is called with. */
		__attribute__((noinline)) void not_printf(const char *format, ...) { __asm__ volatile("" : : "r"(format)); }
		int main(void)
		{
			static const char *const formats[] = {
				"%", "%%", "%1", "%1$", "%0$d", "%*", "%*1", "%99999999999999999999d", "%99999999999$d",
				"%2147483648$s", "%33$d", "%32$d", "%5$n", "%.*.*s", "%.-5s", "%hhhhhlllllLLLqqd", "%v", "%\x80\xff",
				"%-+ #0'I*.*Lf", "%s", "%S%ls%lc%C", "%n%n%n", "%*1$*2$d", "%.*s", "%1$s %d",
			};
			static char many[5000];
			unsigned i;
			char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
				not_printf(formats[i], -1L, 0x4141414141414141L, 3L, 1L << 62, 5000L, ~0L, 7L, 8L);
			for (i = 0; i + 2 < sizeof(many); i += 2)
				memcpy(many + i, "%s", 2);
			not_printf(many, 1L, 2L, 3L);
			memset(page, '%', 4096);
			not_printf(page + 4000, 1L);
			not_printf((char *)0, 1L);
			not_printf((char *)-4096L, 1L);
			not_printf((char *)page - 1, "text");
			return 0;
		}
	END
	${CC:-cc} -w -g -O1 -o hostile hostile.c
	for more in '' --changes; do
		"$CPROF" run -q -o x.data -t 'not_printf' -a $more -- ./hostile
		"$CPROF" replay --json x.data >x.json
		assert_equal "$(jq -s 'map(select(.event == "enter")) | length' x.json)" 30
		"$CPROF" replay x.data >text
		grep -qF 'not_printf("%%")' text
		grep -qF 'not_printf("%", …)' text
		grep -qF 'not_printf("%v", …)' text
		grep -qF "not_printf(\"%2147483648\$s\", …)" text
		grep -qF 'not_printf(NULL, …)' text
	done
}
