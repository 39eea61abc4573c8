#!/usr/bin/env bats
# cprof cover, whatever the program is and does: how it is linked, what it loads,
# how it ends, what else the machine does. The program says itself what it did:
# it writes the number of each line marked RAN as it gets there.

load helpers

PLUGIN='static int constructed;
__attribute__((constructor)) static void begin(void)
{
	constructed = 1; /* always */
}
int plugin(int n);
int plugin(int n)
{
	if (n > 1)
		return n * constructed; /* more */
	return 0; /* less */
}
'

PROGRAM='#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define RAN dprintf(1, "%d\n", __LINE__)
#ifdef LINKED
int plugin(int n);
#endif
static void *thread(void *arg)
{
	return RAN ? arg : 0;
}
__attribute__((constructor)) static void before(void)
{
	RAN;
}
__attribute__((destructor)) static void after(void)
{
	RAN;
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t;
	if (!strcmp(how, "threads"))
		RAN, pthread_create(&t, NULL, thread, NULL), pthread_join(t, NULL);
	if (!strcmp(how, "fork"))
		if (RAN, !fork())
			RAN, _exit(0);
		else
			RAN, wait(NULL);
	if (!strcmp(how, "vfork"))
		if (RAN, !vfork())
			RAN, execl(argv[0], argv[0], "", NULL), _exit(1);
		else
			RAN, wait(NULL);
	if (!strcmp(how, "exec"))
		RAN, execl(argv[0], argv[0], "", NULL);
	if (!strcmp(how, "abort"))
		RAN, abort();
	if (!strcmp(how, "_exit"))
		RAN, _exit(3);
	if (!strcmp(how, "kill"))
		RAN, kill(getpid(), SIGKILL), pause();
	if (!strcmp(how, "crash"))
		RAN, *(volatile int *)(long)(argc - 2) = 1;
#ifdef LINKED
	if (!strcmp(how, "plugin"))
		return RAN && plugin(2) == 2 ? 0 : 1;
#endif
#ifdef LOADS
	if (!strcmp(how, "dlopen")) {
		void *lib = dlopen("./libplugin.so", RTLD_NOW);
		int (*plugin)(int) = RAN && lib ? (int (*)(int))dlsym(lib, "plugin") : 0;
		return plugin && plugin(2) == 2 ? 0 : 1;
	}
#endif
	RAN;
	return 0;
}
'

sources() {
	printf '%s' "$PLUGIN" >plugin.c
	printf '%s' "$PROGRAM" >p.c
	gcc -O0 -g -shared -fPIC -o libplugin.so plugin.c
}

built() { gcc -O0 -g "$@" -o p p.c -pthread ${LINK:+"$LINK"}; }

# Lines marked RAN, of an lcov file: all, those reached.
marked() { grep -n '\<RAN\>' p.c | grep -v define | cut -d: -f1 | sort; }
reached() { sed -n '/p\.c$/,/^end/s/^DA:\([0-9]*\),[1-9].*/\1/p' "$1" | sort; }

# same_as_said HOW: covered is what the program says, and no other marked line.
same_as_said() {
	rm -f x
	"$CPROF" cover -q --lcov=x -- ./p "$1" >said || :
	diff <(sort -u said) <(comm -12 <(marked) <(reached x))
}

@test "cover: however it is linked" {
	sources
	for how in '-pie -fPIE' '-no-pie -fno-pie' -static -static-pie; do
		# shellcheck disable=SC2086 # words
		built $how
		same_as_said ''
		same_as_said threads
	done
}

@test "cover: whatever becomes of it" {
	sources
	built
	for how in threads fork vfork exec abort _exit kill crash; do
		same_as_said "$how" || { echo "$how" >&2; false; }
		[ "$(wc -l <said)" -ge 2 ]
	done
}

@test "cover: libraries from their constructors on, linked and loaded" {
	sources
	for how in plugin dlopen; do
		if [ $how = plugin ]; then
			LINK='./libplugin.so' built -DLINKED
		else
			LINK=-ldl built -DLOADS
		fi
		same_as_said $how
		assert_equal "$(sed -n '/plugin\.c$/,/^end/s/^DA:\([0-9]*\),1$/\1/p' x |
			grep -cxE '4|9|10')" 3
		grep -qx 'DA:11,0' x
	done
}

@test "cover: the same each time, beside three that want the processors" {
	local rounds i
	rounds=$(long_or 100 20)
	sources
	LINK=-ldl built -DLOADS
	for i in 1 2 3; do
		start sh -c 'while :; do :; done'
	done
	for ((i = 0; i < rounds; i++)); do
		"$CPROF" cover -q --lcov=x -- ./p dlopen >/dev/null
		[ -e first ] || mv x first
		[ ! -e x ] || cmp first x
	done
}

@test "cover: killed, it leaves the program running" {
	cat >spin.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		static int step(int n)
		{
			return n % 3 ? n + 1 : n + 2;
		}
		int main(void)
		{
			int n = 0, last;
			while (access("stop", F_OK)) {
				last = n;
				n = step(n);
				if (n <= last)
					return 1;
				if (n > 1000000)
					n = 0;
				if (access("up", F_OK))
					fclose(fopen("up", "w"));
			}
			fclose(fopen("ended", "w"));
			return 0;
		}
	END
	gcc -O0 -g -o spin spin.c
	for how in --count --branches=exact; do
		rm -f up stop ended
		start "$CPROF" cover -q "$how" -- ./spin
		until_true [ -e up ]
		kill -KILL "$pid"
		wait "$pid" || :
		rm up
		until_true [ -e up ]
		touch stop
		until_true [ -e ended ]
	done
}

@test "cover: what was reached is in the recording before the end" {
	cat >two.c <<-'END'
		#include <unistd.h>
		static int first(int n)
		{
			return n + 1;
		}
		static int second(int n)
		{
			return n + 2;
		}
		int never(int n)
		{
			return n + 3;
		}
		int main(void)
		{
			int n = 0;
			while (access("go", F_OK))
				n = first(n);
			while (access("stop", F_OK))
				n = second(n);
			return n < 0 ? never(n) : 0;
		}
	END
	gcc -O0 -g -o two two.c
	ran() { "$CPROF" export -f lcov -o x two.data 2>/dev/null && grep -cE '^DA:(4|8|12),[1-9]' x; }
	ran_are() { [ "$(ran)" = "$1" ]; }
	start "$CPROF" cover -q -o two.data -- ./two
	until_true ran_are 1
	touch go
	until_true ran_are 2
	kill -KILL "$pid"
	wait "$pid" || :
	touch stop
	ran_are 2
	grep -qx DA:12,0 x
	run "$CPROF" report --coverage two.data
	assert_success
	assert_output --partial 'cprof was killed'
	assert_output --regexp 'two\.c'
}
