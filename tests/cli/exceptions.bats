#!/usr/bin/env bats
# Exceptions, against what the programs say of themselves, and gdb.

load helpers
load tracees

# told FILE: what a recording says of its first thread, as the programs print it.
told() {
	"$CPROF" replay --json "$1" | jq -r 'select(.tid == .pid and (.event | test("throw|catch"))) |
		"\(if .rethrown then "re" else "" end)\(.event) \(.type) \(.function | sub("\\(.*"; "") | sub("( .clone )?.cold.*"; ""))"'
}

# told_by_gdb PROGRAM: throw, rethrow or catch, as they come.
told_by_gdb() {
	cat >script <<-'END'
		set pagination off
		set breakpoint pending on
		set debuginfod enabled off
		catch throw
		commands
		silent
		printf "EVENT throw\n"
		continue
		end
		catch rethrow
		commands
		silent
		printf "EVENT rethrow\n"
		continue
		end
		catch catch
		commands
		silent
		printf "EVENT catch\n"
		continue
		end
		run
	END
	gdb -q -nx -batch -x script "$1" </dev/null 2>&1 |
		sed -n 's/^EVENT //p'
}

@test "each throw and catch is told in order: nested, thrown again, through libraries" {
	for program in throws throws_O0; do
		"$CPROF" run --exceptions -q -o x.data -- "$TRACEES/$program" 0 \
			"$TRACEES/libthrows_library.so" >out
		assert_equal "$(told x.data)" "$(cat out)"
	done
	[ "$(grep -c throw out)" -eq 9 ]
	"$CPROF" run --exceptions --traps -q -o x.data -- "$TRACEES/throws" 0 \
		"$TRACEES/libthrows_library.so" >out
	assert_equal "$(told x.data)" "$(cat out)"
	"$CPROF" run --exceptions -q -o x.data -- "$TRACEES/throws_static" >out
	assert_equal "$(told x.data)" "$(cat out)"
	# Under breakpoints of calls too.
	"$CPROF" run --exceptions -t program -q -o x.data -- "$TRACEES/throws_O0" >out
	assert_equal "$(told x.data)" "$(cat out)"
}

@test "chrome and perfetto show them as instants of their threads" {
	needs protoc
	"$CPROF" run --exceptions -t program -q -o x.data -- "$TRACEES/throws_O0" >out
	"$CPROF" export -f chrome -o chrome.json x.data
	jq -r '.traceEvents[] | select(.ph == "i" and .cat == "exception") |
		"\(.name) \(.args.function | sub("\\(.*"; ""))"' chrome.json >told
	assert_equal "$(cat told)" "$(cat out)"
	# Within the calls that they are in.
	jq -e '[.traceEvents[] | select(.ph == "X")] as $calls |
		[.traceEvents[] | select(.ph == "i") | . as $it | any($calls[];
			.tid == $it.tid and .ts <= $it.ts and $it.ts <= .ts + .dur)] | all' chrome.json
	"$CPROF" export -f perfetto -o out.pftrace x.data
	protoc --decode=cprof.perfetto.Trace -I "$SOURCES/src/report/export" perfetto.proto <out.pftrace >decoded
	awk '/TYPE_INSTANT/ { instant = 1 } /^ *name: / && instant { print substr($0, index($0, ": ") + 2); instant = 0 }' decoded |
		tr -d '"' >told
	assert_equal "$(cat told)" "$(sed 's/ [^ ]*$//' out)"
}

@test "throws and catches come in gdb's order" {
	needs gdb
	"$CPROF" run --exceptions -q -o x.data -- "$TRACEES/throws_O0" >out
	told_by_gdb "$TRACEES/throws_O0" >expected
	# gdb has no catchpoint for std::rethrow_exception().
	told x.data | grep -v ' kept_one$' | cut -d' ' -f1 >got
	[ "$(wc -l <expected)" -ge 13 ]
	diff expected got
}

@test "what a handler throws again is no throw: as many of each as gdb has" {
	needs gdb clang++
	cat >again.cpp <<-'END'
		#include <cstring>
		#include <exception>
		#include <stdexcept>
		#include <unwind.h>
		_Unwind_Exception foreign;
		template <class T> void catching(T t) { try { t(); } catch (...) {} }
		void thrower() { throw std::runtime_error("one"); }
		void again() { try { thrower(); } catch (...) { throw; } }
		void twice() { try { again(); } catch (std::exception &) { throw; } }
		void copied() { try { thrower(); } catch (std::runtime_error &one) { throw one; } }
		void strange() { _Unwind_RaiseException(&foreign); }
		void strange_again() { try { strange(); } catch (...) { throw; } }
		std::exception_ptr kept;
		void keeps() { try { thrower(); } catch (...) { kept = std::current_exception(); } }
		void dependent() { std::rethrow_exception(kept); }
		void dependent_again() { try { dependent(); } catch (...) { throw; } }
		int main(int argc, char **)
		{
			if (argc > 1)
				return catching(thrower), 0;
			std::memcpy(&foreign.exception_class, "TSETTSET", 8);
			for (int i = 0; i < 3; i++)
				catching(again);
			catching(twice);
			catching(copied);
			catching(strange);
			catching(strange_again);
			keeps();
			catching(dependent);
			catching(dependent_again);
		}
	END
	for compiler in g++ clang++; do
		"$compiler" -g -O1 -o again again.cpp
		told_by_gdb ./again >expected
		"$CPROF" run --exceptions -q -o x.data -- ./again
		# gdb has no catchpoint for std::rethrow_exception(), which is a throw, twice, nor
		# for what is not C++: thrown twice, once thrown again.
		"$CPROF" replay --json x.data | jq -r 'select(.event == "throw") |
			if .rethrown then "rethrow" else "throw" end' >got
		assert_equal "$(grep -cx rethrow got)" "$(($(grep -cx rethrow expected) + 1))"
		assert_equal "$(grep -cx throw got)" "$(($(grep -cx throw expected) + 4))"
		run "$CPROF" report --exceptions x.data
		assert_line --regexp '^Exceptions +11 thrown, 7 rethrown, 18 caught$'
		assert_line --regexp '^ +count +rethrown +type '
		assert_equal "$("$CPROF" report --json x.data | jq -c '.exceptions | [.thrown, .rethrown,
			([.kinds[].count] | add), ([.kinds[].rethrown] | add)]')" '[11,7,11,7]'
		assert_equal "$("$CPROF" replay x.data | grep -c '↯ rethrow ')" 7
	done
	# Where there is none, there is no column for them.
	"$CPROF" run --exceptions -q -o x.data -- ./again once
	run "$CPROF" report --exceptions x.data
	assert_line --regexp '^Exceptions +1 thrown, 1 caught$'
	assert_line --regexp '^ +count +type '
}

# A program that throws hundreds of times in each of many ways, and counts.
many_throws() {
	cat >many.cpp <<-'END'
		#include <cstdio>
		#include <cstring>
		#include <exception>
		#include <stdexcept>
		#include <string>
		#include <unwind.h>
		#ifdef FILTERED
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <stddef.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		static void filter()
		{
			struct sock_filter rows[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog program = { 4, rows };
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
		}
		#else
		static void filter() {}
		#endif
		static int thrown, caught;
		template <class T> void catching(T t) { try { t(); } catch (...) { caught++; } }
		struct base { virtual ~base() {} };
		struct derived : base {};
		void thrower() { thrown++; throw std::runtime_error("one"); }
		void again() { try { thrower(); } catch (std::exception &) { caught++; throw; } }
		void by_base() { try { thrown++; throw derived(); } catch (base &) { caught++; } }
		struct guard { ~guard() { try { thrown++; throw 1; } catch (int) { caught++; } } };
		void in_destructor() { guard g; thrown++; throw "text"; }
		int deep(int n) { volatile char room[256]; room[0] = 1;
			if (!n) { thrown++; throw std::string("deep"); } return deep(n - 1) + room[0]; }
		std::exception_ptr kept;
		void dependent() { thrown++; std::rethrow_exception(kept); }
		_Unwind_Exception foreign;
		void strange() { thrown++; _Unwind_RaiseException(&foreign); }
		int main()
		{
			std::memcpy(&foreign.exception_class, "TSETTSET", 8);
			try { thrower(); } catch (...) { caught++; kept = std::current_exception(); }
			filter();
			for (int i = 0; i < 300; i++) {
				catching(again);
				by_base();
				catching(in_destructor);
				catching([=] { deep(i % 150); });
				catching(dependent);
				catching(strange);
			}
			printf("%d %d\n", thrown, caught);
		}
	END
	g++ -g -O1 "$@" -o many many.cpp
}

# by_both PROGRAM: what is told of its exceptions, with their stacks, is by detours (d.data,
# d.sums, out) what it is by breakpoints.
by_both() {
	local which
	"$CPROF" run --exceptions --stack -q -o d.data -- "$@" >out
	"$CPROF" run --exceptions --stack --traps --max-rate=0 -q -o t.data -- "$@" >expected
	diff expected out
	for which in d t; do
		"$CPROF" replay --json $which.data | jq -c '[.event, .type, .function, .rethrown, .line,
			.file, .stack]' | sort >$which
		"$CPROF" report --json $which.data | jq -c .exceptions >$which.sums
	done
	cmp t d
	cmp t.sums d.sums
}

@test "what detours tell of them is what breakpoints do, and no throw is a stop" {
	for flags in -DPLAIN -static -DFILTERED; do
		many_throws "$flags"
		by_both ./many
		# As many as the program counted; each of `again` is caught twice.
		assert_equal "$(jq -r '"\(.thrown) \(.caught)"' d.sums)" "$(cat out)"
		[ "$(jq .rethrown d.sums)" -eq 300 ]
		[ "$("$CPROF" report --json d.data | jq .overhead.stops)" -lt 900 ]
	done
}

@test "exceptions on coroutines' stacks, in signals' handlers, threads and a forked child" {
	cat >places.cpp <<-'END'
		#include <csignal>
		#include <cstdio>
		#include <cstdlib>
		#include <stdexcept>
		#include <sys/wait.h>
		#include <thread>
		#include <ucontext.h>
		#include <unistd.h>
		#include <vector>
		static thread_local int caught;
		__attribute__((noinline)) void thrower() { throw std::runtime_error("here"); }
		__attribute__((noinline)) void catching() { try { thrower(); } catch (std::exception &) { caught++; } }
		static void twenty() { for (int i = 0; i < 20; i++) catching(); }
		static ucontext_t outside, inside;
		static void on_stack() { for (;;) { catching(); swapcontext(&inside, &outside); } }
		static void resume(char *stack, size_t size) {
			getcontext(&inside);
			inside.uc_stack.ss_sp = stack;
			inside.uc_stack.ss_size = size;
			makecontext(&inside, on_stack, 0);
			for (int i = 0; i < 20; i++) { swapcontext(&outside, &inside); catching(); }
		}
		__attribute__((noinline)) static void within() { char stack[65536]; resume(stack, sizeof(stack)); }
		static void on_signal(int) { catching(); }
		int main() {
			static char stack[65536], alternate[65536];
			struct sigaction action = {};
			stack_t alt = { alternate, 0, sizeof(alternate) };
			std::vector<std::thread> threads;
			twenty();
			for (int i = 0; i < 8; i++) threads.emplace_back(twenty);
			for (auto &t : threads) t.join();
			resume(stack, sizeof(stack));
			within();
			pid_t child = fork();
			if (!child) { twenty(); _exit(0); }
			waitpid(child, nullptr, 0);
			action.sa_handler = on_signal;
			for (int i = 0; i < 20; i++) {
				action.sa_flags = i % 2 ? SA_ONSTACK : 0;
				sigaltstack(&alt, nullptr);
				sigaction(SIGUSR1, &action, nullptr);
				raise(SIGUSR1);
				catching();
			}
			printf("%d\n", caught);
		}
	END
	g++ -g -O1 -pthread -o places places.cpp
	by_both ./places
	# Those of other threads and of the child are not among what it counted.
	assert_equal "$(jq '.caught - 8 * 20 - 20' d.sums)" "$(cat out)"
}

@test "what is caught on a coroutine's stack, by a function that is not traced" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >caught.cpp <<-'END'
		#include <cstdint>
		#include <cstdlib>
		#define OWN extern "C" __attribute__((noinline))
		OWN void change(void **from, void *to);
		asm(".globl change\n.type change, @function\nchange: push %rbp\npush %rbx\npush %r12\n"
			"push %r13\npush %r14\npush %r15\nmov %rsp,(%rdi)\nmov %rsi,%rsp\npop %r15\n"
			"pop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n.size change, .-change");
		static void *own, *other;
		OWN long fails(int n) { if (!n) throw 1; asm volatile(""); return fails(n - 1) + 1; }
		OWN void catches() { try { fails(1); } catch (int) {} for (;;) change(&other, own); }
		OWN long goes_on(int n) { asm volatile(""); return n; }
		int main()
		{
			for (int i = 0; i < 5; i++) {
				void **top = (void **)(((uintptr_t)malloc(65536) + 65536) & ~15ul);
				*--top = 0;
				*--top = (void *)catches;
				for (int k = 0; k < 6; k++)
					*--top = 0;
				other = top;
				change(&own, other);
				goes_on(i);
			}
		}
	END
	"${CXX:-c++}" -O1 -g -o caught caught.cpp
	for traps in '' --traps; do
		# shellcheck disable=SC2086
		"$CPROF" run -q --exceptions $traps -o x.data -t fails,goes_on -- ./caught
		"$CPROF" replay --json x.data | jq -r 'select(.event | IN("enter", "leave", "unwind", "catch")) |
			"\(.event) \(.function)"' | head -n 7 >said
		# What is caught, and by whom, comes when the calls are gone.
		assert_equal "$(xargs <said)" "enter fails enter fails unwind fails unwind fails catch catches enter goes_on leave goes_on"
	done
}

@test "an exception whose catch is looked for while a signal's handler throws is caught" {
	# The personality routine is called for each frame that is looked at: there the signal
	# comes. Handlers run on the thread's stack, and on others, below and above it.
	cat >between.cpp <<-'END'
		#include <csignal>
		#include <cstdio>
		#include <dlfcn.h>
		#include <stdexcept>
		#include <thread>
		#include <unwind.h>
		static thread_local int signals, thrown, caught, handled;
		typedef _Unwind_Reason_Code personality(int, _Unwind_Action, _Unwind_Exception_Class,
			_Unwind_Exception *, _Unwind_Context *);
		extern "C" _Unwind_Reason_Code __gxx_personality_v0(int version, _Unwind_Action actions,
			_Unwind_Exception_Class kind, _Unwind_Exception *exception, _Unwind_Context *context)
		{
			static const auto next = (personality *)dlsym(RTLD_NEXT, "__gxx_personality_v0");
			if (actions & _UA_SEARCH_PHASE && signals) {
				signals--;
				raise(SIGUSR1);
			}
			return next(version, actions, kind, exception, context);
		}
		__attribute__((noinline)) void thrower() { thrown++; throw std::runtime_error("here"); }
		__attribute__((noinline)) void catching() { try { thrower(); } catch (std::exception &) { caught++; } }
		__attribute__((noinline)) void in_handler() { try { thrown++; throw 1; } catch (int) { handled++; } }
		static void on_signal(int) { in_handler(); }
		static int sums[3];
		static void rounds(char *stack) {
			struct sigaction action = {};
			stack_t alternate = {};
			alternate.ss_sp = stack;
			alternate.ss_size = 65536;
			if (stack)
				sigaltstack(&alternate, nullptr);
			action.sa_handler = on_signal;
			for (int i = 0; i < 60; i++) {
				action.sa_flags = SA_NODEFER | (stack && i % 2 ? SA_ONSTACK : 0);
				sigaction(SIGUSR1, &action, nullptr);
				signals = i % 4;
				catching();
			}
			sums[0] += thrown, sums[1] += caught, sums[2] += handled;
		}
		int main() {
			static char below[65536];
			char above[65536];
			rounds(below);
			std::thread(rounds, nullptr).join();
			std::thread(rounds, above).join();
			std::thread(rounds, below).join();
			printf("%d %d %d\n", sums[0], sums[1], sums[2]);
		}
	END
	g++ -g -O1 -pthread -rdynamic -o between between.cpp -ldl
	for traps in '' --traps; do
		"$CPROF" run --exceptions $traps --max-rate=0 -q -o x.data -- ./between >out
		[ "$(cut -d' ' -f3 out)" -gt 200 ]
		"$CPROF" report --json x.data | jq -r '.exceptions | [.thrown,
			([.kinds[] | select(.caught_in == "catching()").count] | add),
			([.kinds[] | select(.caught_in == "in_handler()").count] | add)] | join(" ")' >got
		diff out got
		refute_regex "$("$CPROF" report --exceptions x.data)" 'not caught'
	done
}

@test "SIGKILL of cprof while exceptions are told leaves the program as it is" {
	for who in tracer controller; do
		"$BATS_TEST_DIRNAME/kill_at" --cprof="$CPROF" --who=$who --phase=leave --start=5 --step=100 \
			--options=--exceptions -- "$TRACEES/exceptions" --ready=% --until=@
	done
}

@test "threads throw at the same time, and none is missed" {
	"$CPROF" run --exceptions --max-rate=0 -q -o x.data -- "$TRACEES/throws" 4 >out
	run "$CPROF" report --json x.data
	assert_equal "$(jq -c '.exceptions | [.thrown, .rethrown, .caught]' <<<"$output")" '[246,41,287]'
	assert_equal "$(jq '[.exceptions.kinds[] | select(.type == "int").count] | add' <<<"$output")" 82
	assert_equal "$(jq '[.exceptions.kinds[] | select(.caught_in == null)] | length' \
		<<<"$output")" 0
}

@test "the calls that an exception unwinds end where it lands, by nothing else" {
	"$CPROF" run --exceptions -t 'thrower,passes_through,nested,jumps,in_destructor' -q -o x.data \
		-- "$TRACEES/throws_O0" >out
	"$CPROF" replay --json x.data |
		jq -r 'select(.event != "enter") | "\(.event) \(.function | sub("\\(.*"; ""))"' >got
	cat >expected <<-'END'
		throw thrower
		unwind thrower
		unwind passes_through
		catch all_kinds
		throw thrower
		unwind thrower
		throw thrower
		unwind thrower
		catch in_destructor
		leave in_destructor
		unwind nested
		catch all_kinds
		throw thrower
		unwind thrower
		unwind passes_through
		catch again
		throw again
		catch all_kinds
		throw thrower
		unwind thrower
		unwind passes_through
		catch others
		throw kept_one
		catch all_kinds
		unwind jumps
	END
	diff expected got
}

# Its destructors are called by code without call frame information.
@test "calls are unwound for sure after a library whose destructors were traced is gone" {
	needs g++ jq
	cat >lib.cpp <<-END
		extern "C" int inner(int x) { return x + 1; }
		struct Last { int k = 1; ~Last() { k = inner(k); } } last;
	END
	cat >closes.cpp <<-END
		#include <dlfcn.h>
		__attribute__((noinline)) int thrower(int n) { if (n % 2) throw n; return n; }
		__attribute__((noinline)) int outer(int n) { try { return thrower(n); } catch (int k) { return -k; } }
		int main()
		{
			int sum = 0;
			for (int round = 0; round < 3; round++) {
				dlclose(dlopen("./lib.so", RTLD_NOW));
				for (int i = 0; i < 10; i++)
					sum += outer(i);
			}
			return sum != -15;
		}
	END
	g++ -O0 -shared -fPIC -o lib.so lib.cpp
	g++ -O0 -g -o closes closes.cpp
	"$CPROF" run -q -o rec -t outer,thrower,inner -- ./closes
	"$CPROF" replay --json rec | jq -r '"\(.event) \(.unsure // "sure")"' | sort | uniq -c >got
	run awk '{ print $2, $3, $1 }' got
	assert_output 'enter sure 63
leave sure 48
unwind sure 15'
}

@test "what nobody catches is told, and the program dies of it as without" {
	run -134 --separate-stderr "$CPROF" run --exceptions -o x.data -- "$TRACEES/throws" abort
	assert_output 'throw std::out_of_range thrower'
	# libstdc++ throws it once more, to say what it is.
	assert_regex "$stderr" '1 thrown, 1 rethrown, 1 caught'
	assert_regex "$stderr" 'std::out_of_range +thrower\(int\) .*not caught'
	assert_equal "$("$CPROF" report --json x.data | jq -c '[.exceptions.kinds[].is_caught] | sort')" \
		'[false,true]'
}

@test "where it was thrown: the line, and with --stack the stack" {
	line=$(grep -n 'throw std::out_of_range' "$SOURCES/tests/tracees/throws.cpp" | cut -d: -f1)
	run -134 "$CPROF" run --exceptions --stack -q -o x.data -- "$TRACEES/throws_O0" abort
	run sh -c "\"$CPROF\" replay --json x.data | head -n 1"
	assert_equal "$(jq -r '"\(.file | sub(".*/"; "")) \(.line)"' <<<"$output")" \
		"throws.cpp $line"
	assert_equal "$(jq -r '.stack | map(sub("\\(.*"; "")) | index("thrower") as $i |
		.[$i:$i + 2] | join(" ")' <<<"$output")" 'thrower main'
	run "$CPROF" replay x.data
	assert_regex "$output" "throw std::out_of_range at thrower\(int\), throws.cpp:$line"
}

@test "panics of Rust, where the program made them" {
	[ -x "$TRACEES/throws_rust" ] || skip 'no rustc: throws_rust was not built'
	"$CPROF" run --exceptions -q -o x.data -- "$TRACEES/throws_rust" >out
	"$CPROF" replay --json x.data | jq -r 'if .event == "throw"
		then "throw \(.type) \(.function)" else "catch \(.type)" end' >got
	diff out got
}

@test "panics of a program that ends at once are caught, each with a row of its own" {
	needs rustc
	cat - "$SOURCES/tests/cli/black_box.rs" >many.rs <<-'END'
		// with black_box
		use std::panic;
		#[inline(never)]
		fn index(v: &[i32], n: usize) -> i32 { v[n] }
		#[inline(never)]
		fn either(v: &[i32], b: Option<i32>, n: usize) -> i32 { if n % 2 == 0 { v[n + 10] } else { b.unwrap() } }
		#[inline(never)]
		fn message(n: usize) {
		    if n % 2 == 0 { panic!("even {}", n) }
		    if n % 3 == 0 { panic!("three") }
		    let r: Result<i32, String> = Err("x".into());
		    black_box(r).unwrap();
		}
		#[inline(never)]
		fn divide(a: i32, b: i32) -> i32 { a / b + a % b }
		fn main() {
		    let mut caught = 0;
		    panic::set_hook(Box::new(|_| {}));
		    for n in 0..12usize {
		        caught += panic::catch_unwind(|| { black_box(index(black_box(&[1]), n + 1)); }).is_err() as u32;
		        caught += panic::catch_unwind(|| { black_box(either(black_box(&[1]), black_box(None), n)); }).is_err() as u32;
		        caught += panic::catch_unwind(|| message(black_box(n))).is_err() as u32;
		        caught += panic::catch_unwind(|| { black_box(divide(black_box(1), black_box(0))); }).is_err() as u32;
		    }
		    println!("{}", caught);
		}
	END
	rustc -O -g -o many many.rs
	# Events wait for who reads them longer than this lives.
	for ((i = 0; i < 10; i++)); do
		"$CPROF" run --exceptions -q -o x.data -- ./many >out
		assert_equal "$("$CPROF" report --json x.data | jq -c '.exceptions | [.thrown, .caught]')" \
			"[$(cat out),$(cat out)]"
	done
	"$CPROF" report --exceptions x.data | sed -En 's/^ +[0-9]+ +(panic .*)/\1/p' >rows
	[ "$(grep -c either rows)" -eq 2 ]
	[ -z "$(sort rows | uniq -d)" ]
	# Where there are no lines, addresses: the last bytes of calls that a disassembler shows.
	rustc -O -C strip=debuginfo -o many many.rs
	"$CPROF" run --exceptions -q -o x.data -- ./many >out
	objdump -d ./many | sed -En 's/^ +([0-9a-f]+):.*/\1/p' >addresses
	[ "$("$CPROF" report --exceptions x.data | grep -c '^ .*panic .*0x')" -ge 7 ]
	"$CPROF" report --json x.data | jq -r '.exceptions.kinds[].address + 1' >told
	[ "$(wc -l <told)" -ge 7 ]
	[ -z "$(sort told | uniq -d)" ]
	while read -r address; do
		printf -v address %x "$address"
		grep -qx "$address" addresses
	done <told
}

@test "in a pipe the longest name makes its own row longer, not the others" {
	cat >long.cpp <<-'END'
		#include <stdexcept>
		template <class... T> struct a_rather_long_name_for_a_type {};
		template <class T> __attribute__((noinline)) void thrower(T) { throw 1; }
		__attribute__((noinline)) void brief() { throw 2.5; }
		int main()
		{
			typedef a_rather_long_name_for_a_type<int, long, char, float, double> first;
			typedef a_rather_long_name_for_a_type<first, first, first> second;
			try { thrower(second()); } catch (int) {}
			try { brief(); } catch (double) {}
		}
	END
	g++ -g -O1 -o long long.cpp
	"$CPROF" run --exceptions -q -o x.data -- ./long
	"$CPROF" report --exceptions x.data >out
	[ "$(grep 'brief' out | wc -L)" -le 100 ]
	# Nothing of it is cut.
	grep -q 'thrower<a_rather_long_name_for_a_type<a_rather.*, a_rather.*, a_rather.*>' out
}

@test "a personality routine that is traced returns, whatever it unwinds" {
	[ -x "$TRACEES/throws_rust" ] || skip 'no rustc: throws_rust was not built'
	"$CPROF" run --exceptions -q -o x.data -t rust_eh_personality -- "$TRACEES/throws_rust" >out
	"$CPROF" run -q -o y.data -t rust_eh_personality -- "$TRACEES/throws_rust" >out
	for file in x y; do
		"$CPROF" report --json $file.data | jq -c '[.calls.functions[] | [.function, .calls,
			.unwound]], .overhead.rejected.unmatched' >$file
	done
	diff x y
	assert_equal "$(tail -1 x)" 0
	"$CPROF" run --exceptions -q -o x.data -t throws_rust::deep -- "$TRACEES/throws_rust" >out
	"$CPROF" report --json x.data |
		jq -e '.calls.functions[] | .calls > 0 and .unwound == .calls'
}

@test "too many are told as long as --max-rate allows, and that it was so" {
	run --separate-stderr "$CPROF" run --exceptions --max-rate=10 -o x.data -- \
		"$TRACEES/throws" 2
	assert_success
	assert_regex "$stderr" 'none is told after'
	# What was on its way then may have been caught, or not.
	refute_regex "$stderr" 'not caught'
	run "$CPROF" report --json x.data
	assert_equal "$(jq '[.exceptions.kinds[] | select(.is_caught == false)] | length' <<<"$output")" 0
	assert_equal "$(jq '.exceptions | .thrown + .rethrown - .caught == ([.kinds[] |
		select(.is_caught == null) | .count + .rethrown] | add // 0)' <<<"$output")" true
	[ "$(jq .exceptions.thrown <<<"$output")" -lt 147 ]
	[ "$(jq .exceptions.none_after_ns <<<"$output")" -gt 0 ]
}

@test "a running program's exceptions, from outside, and none is disturbed" {
	begin exceptions
	"$CPROF" attach -q -o x.data --exceptions -d 1s "$tracee"
	left_alone "$tracee"
	finish
	[[ $finished == "status 0, exceptions: ok"* ]]
	"$CPROF" replay --json x.data >x.json
	# Each throw has a catch, except where attaching and leaving cut between them.
	read -r throws catches types < <(jq -rs '[map(select(.event == "throw")), map(select(.event == "catch")),
		(map(select(.event == "throw").type) | unique)] | map(length) | @tsv' x.json)
	[ "$throws" -gt 20 ]
	[ "$catches" -gt 20 ]
	[ "$types" -ge 3 ]
	# Nobody who goes on has not caught one.
	"$CPROF" report --json x.data >x.json
	assert_equal "$(jq '[.exceptions.kinds[] | select(.is_caught == false)] | length' x.json)" 0
	run ! grep -q 'not caught' <<<"$("$CPROF" report x.data)"
}

@test "recordings with exceptions can be merged" {
	"$CPROF" run --exceptions -q -o 1.data -- "$TRACEES/throws" >out
	"$CPROF" run --exceptions -t thrower -q -o 2.data -- "$TRACEES/throws_O0" >out
	"$CPROF" merge -o both.data 1.data 2.data
	run "$CPROF" report --json both.data
	assert_equal "$(jq -c '.exceptions | [.thrown, .rethrown, .caught]' <<<"$output")" '[12,2,14]'
	assert_equal "$("$CPROF" replay --json both.data | jq -r .event | sort | uniq -c |
		awk '{ print $2, $1 }' | tr '\n' ' ')" 'catch 14 enter 5 throw 14 unwind 5 '
}

@test "modules: the clauses that an exception comes to, if they are asked for" {
	cat >clauses.cpp <<-END
		struct first {}; struct second {};
		struct guard { ~guard(); };
		guard::~guard() {}
		void thrower() { throw second(); }
		void between() { guard g; thrower(); }
		int main() {
			try {
				try { between(); } catch (first &) { return 1; } catch (second &) { throw; }
			} catch (...) { return 0; }
			return 2;
		}
	END
	"${CXX:-c++}" -g -O0 -o clauses clauses.cpp
	separately "$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=clauses -- ./clauses
	assert_success
	# shellcheck disable=SC2154 # bats
	assert_equal "$(head -n 4 <<<"$output")" "$(printf '%s\n' 'throw second' \
		'finally 0 of between() for second' 'catch 1 of main for second' 'rethrow second')"
	separately "$CPROF" run -q --plugin-dir="$BUILD/tests/modules" --profile=clauses:without -- ./clauses
	assert_equal "$output" $'throw second\nrethrow second'
}
