#!/usr/bin/env bats
# cprof cover: which functions there are, whose they are and how often they were
# entered. The judge is gcov, on the same source.

load helpers

# counted COMPILER SOURCE [OPTION...]: "NAME COUNT" of each function of it, as gcov
# has it, by the names of symbols.
counted() (
	mkdir -p counted && cd counted || exit
	"$1" --coverage "${@:3}" -O0 -o p "../$2" && ./p >/dev/null
	gcov -t --json-format ./*.gcda | jq -r --arg source "$2" '.files[] |
		select(.file | endswith($source)) | .functions[] | "\(.name) \(.execution_count)"' | sort
)

# functions FILE: the same of an lcov file.
functions() { sed -n 's/^FNDA:\([0-9]*\),\(.*\)/\2 \1/p' "$1" | sort; }

# gcc says of what a system header declares that it is there.
@test "a program's own malloc is of the file that it is in, as are wrappers" {
	needs gcc gcov jq
	cat >own.c <<-'END'
		#include <stdlib.h>
		#include <unistd.h>

		static char heap[1 << 16];
		static size_t used;

		void *malloc(size_t n)
		{
			void *p = heap + used;

			used += (n + 15) & ~(size_t)15;
			return p;
		}

		void free(void *p)
		{
			if (!p)
				abort();
		}

		int getpagesize(void)
		{
			return 4096;
		}

		int main(void)
		{
			void *volatile p;
			int i;

			for (i = 0; i < 3; i++) {
				p = malloc(3);
				free(p);
			}
			return getpagesize() != 4096;
		}
	END
	local level
	gcc -O0 -g -fno-builtin -o own own.c
	separately "$CPROF" cover -q --count --lcov=info -- ./own
	assert_equal "$status" 0
	# gcov's own calls of malloc would be counted, too.
	assert_equal "$(functions info)" "$(printf '%s\n' 'free 3' 'getpagesize 1' 'main 1' 'malloc 3')"
	assert_equal "$(grep -c ^SF: info)" 1
	for line in 'used +=' 'return 4096'; do
		grep -x "DA:$(grep -n "$line" own.c | cut -d: -f1),[13]" info
	done
	# Inlined and not.
	for level in 1 2 3; do
		gcc -O$level -g -fno-builtin -o own own.c
		separately "$CPROF" cover -q --lcov=info -- ./own
		assert_equal "$(functions info | cut -d' ' -f1 | xargs)" "free getpagesize main malloc"
		grep -x "DA:$(grep -n 'used +=' own.c | cut -d: -f1),1" info
	done
	cat >wrap.c <<-'END'
		#include <dlfcn.h>
		#include <unistd.h>

		ssize_t read(int fd, void *buf, size_t n)
		{
			ssize_t (*next)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");

			if (n == 1)
				return -1;
			return next(fd, buf, n);
		}
	END
	gcc -D_GNU_SOURCE -O0 -g -shared -fPIC -o wrap.so wrap.c
	separately "$CPROF" cover -q --lcov=info -- env LD_PRELOAD="$PWD/wrap.so" cat own.c
	assert_equal "$(grep -E '^(SF|FNDA|LF|LH)' info | xargs)" "SF:$PWD/wrap.c FNDA:1,read LF:6 LH:5"
}

@test "Rust: the standard library's and fetched crates' sources count when asked for" {
	needs rustc
	cat >words.rs <<-'END'
		use std::collections::HashMap;
		fn main() {
		    let mut count = HashMap::new();
		    for word in std::env::args() {
		        *count.entry(word).or_insert(0) += 1;
		    }
		    println!("{}", count.len());
		}
	END
	rustc -g -o words words.rs
	separately "$CPROF" cover -q --lcov=info -- ./words a b
	assert_equal "$status" 0
	assert_equal "$(grep ^SF: info)" "SF:$PWD/words.rs"
	separately "$CPROF" cover -q --include='*/alloc/src/*' --include='*.rs' --stale=warn \
		--lcov=info -- ./words a b
	grep -m1 '^SF:.*/library/alloc/src/' info
	# A crate that cargo fetched, to a home of its own.
	local crate=$PWD/home/registry/src/index.crates.io-1949cf8c6b5b557f/dep-0.1/src
	mkdir -p "$crate"
	echo 'pub fn twice(n: i32) -> i32 { n * 2 }' >"$crate/lib.rs"
	rustc -g --crate-name dep --crate-type rlib "$crate/lib.rs"
	echo 'fn main() { std::process::exit(dep::twice(0)) }' >user.rs
	rustc -g --extern dep=libdep.rlib user.rs
	separately "$CPROF" cover -q --lcov=info -- ./user
	assert_equal "$(grep ^SF: info)" "SF:$PWD/user.rs"
}

@test "constructors and destructors are gcov's, each by its symbol" {
	needs g++ gcov jq
	cat >shapes.cpp <<-'END'
		#include <cstdio>
		struct Base {
			int n;
			Base(int n);
			virtual ~Base();
		};
		struct Middle : virtual Base {
			Middle(int n);
			~Middle();
		};
		struct Simple : Base {
			Simple(int n) : Base(n) { puts("simple"); }
			~Simple() { puts("~simple"); }
		};
		template <class T> struct Last : Middle {
			Last();
			~Last();
		};
		Base::Base(int n) : n(n) {}
		Base::~Base() { puts("~base"); }
		Middle::Middle(int n) : Base(n) { puts("middle"); }
		Middle::~Middle() { puts("~middle"); }
		template <class T> Last<T>::Last() : Base(1), Middle(2) { puts("last"); }
		template <class T> Last<T>::~Last() { puts("~last"); }
		int main()
		{
			{
				Simple one(1);
				Last<Simple> last;
			}
			delete new Simple(2);
			delete new Simple(3);
			Base *base = new Middle(3);
			delete base;
		}
	END
	g++ -g -O0 -o shapes shapes.cpp
	separately "$CPROF" cover -q --count --lcov=info --json=json -- ./shapes
	assert_equal "$status" 0
	counted g++ shapes.cpp | diff - <(functions info)
	assert_equal "$(jq -r '.files[].functions[] | select(.name | startswith("Simple::~")) |
		"\(.name) \(.execution_count)"' json)" \
		$'Simple::~Simple() [D0] 2\nSimple::~Simple() [D2] 3'
	# Optimised, inlined ones count for those that they are of.
	g++ -g -O2 -o shapes shapes.cpp
	separately "$CPROF" cover -q --count --lcov=info --json=json -- ./shapes
	assert_equal "$(jq -r '[.files[].functions[] | select(.name | startswith("Simple::")) |
		.execution_count] | @csv' json)" 3,2,3
	run jq -r '.files[].functions[].name | select(startswith("_Z") or test("thunk"))' json
	assert_output ""
}
