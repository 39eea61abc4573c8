#!/usr/bin/env bats
# --when: for which calls it holds, beside the program itself and gdb, and what is said of those
# for which it can't be told.

load helpers

conditions() {
	cat >conditions.h <<-'END'
		WHEN(this->shared == 50)
		WHEN(this->shared > 20 && n != 4)
		WHEN(two.shared >= 30)
		WHEN(two.name[0] == 's')
		WHEN(two.number && *two.number == 3)
		WHEN(large->shared == 20)
		WHEN(large->large == 105)
		WHEN(large->inner->shared > 40)
		WHEN(large->inner->number == nullptr)
		WHEN(color == GREEN && shade == Shade::DARK)
		WHEN(ns::E::B == e)
		WHEN(e != ns::E::B)
		WHEN(holder.kind == Holder::LARGE)
		WHEN(boxes.names["k"] == 3)
		WHEN(boxes.shades[Shade::DARK] > 1 || n == 0)
		WHEN(boxes.texts[100] == "two")
		WHEN(boxes.list.size() == 4)
		WHEN(boxes.deque.size() > 2 && boxes.deque[0] == n - 1)
		WHEN(boxes.set.empty())
		WHEN(boxes.texts.size() > 5)
		WHEN(maybe && *maybe == 2)
		WHEN(!maybe)
		WHEN(twice && !*twice)
		WHEN(twice && *twice && **twice == 1)
		WHEN(owned && owned->kind == Holder::LARGE)
		WHEN(text.size() > 200)
		WHEN(text.length() % 2 == 1)
		WHEN(row.size() > 100 && row[100] == n)
		WHEN(n > 2 && row[20] == 5)
		WHEN(map->size() == 2 && n & 1)
		WHEN(label && *label == "l6")
		WHEN((n & 3) == 2)
		WHEN((char)(n + 254) > 0)
		WHEN(sizeof(holder) == 4 && n == 1)
		WHEN(shared == 50)
		WHEN(one == 1 && n == 3)
		WHEN(limit_here > 1)
		WHEN(n > 5 || limit_here == 1)
		WHEN(name[0] == 's' && number != nullptr)
		WHEN(self->limit_here == 2)
		WHEN(own.size() > 4 && own[4] == 5)
		WHEN(called == "third")
		WHEN(n > limit + 1)
		WHEN(n > 2 && limit == 2)
		WHEN(in_file == 3)
		WHEN(n > ns::limit_there)
		WHEN(count == 8)
		WHEN(One::count > 8 && color == GREEN)
		WHEN(GREEN == color && limit)
		WHEN(ns::chosen == odd)
		WHEN(n == TOP)
		WHEN(n == Holder::LARGE || n == GREEN)
		WHEN(limit_here == limit)
		WHEN(maybe == 2)
		WHEN(maybe != 2)
		WHEN(maybe < 2)
		WHEN(2 <= maybe)
		WHEN(label == "l6")
		WHEN(label != "l6")
		WHEN(text == "end")
		WHEN(!row.empty() && row[0] == 3)
	END
}

# told OPTION...: calls that were told, and those for which the condition could not be evaluated.
told() {
	"$CPROF" run -q -o x.data "$@" >out 2>err || return
	"$CPROF" report --json x.data |
		jq -r '"\([.calls?.functions[]?.calls] | add // 0) \(.. | objects | select(has("condition_unknown")).condition_unknown)"'
}

@test "conditions hold for the calls that the program says, whatever they look into" {
	needs g++ jq
	conditions
	local i how traps wanted condition each
	# All of them unoptimised and without stops; of the rest a sixth, each time others.
	each=$(long_or 1 6)
	for how in "g++ -O0" "g++ -O2" "clang++ -O1 -fstandalone-debug"; do
		command -v "${how%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$how -g -std=c++17 -w -I. -o conditions "$SOURCES/tests/cli/conditions.cpp"
		./conditions >said
		[ "$(wc -l <said)" = 61 ]
		i=$RANDOM
		while read -r wanted condition; do
			i=$((i + 1))
			for traps in "" --traps; do
				[[ -z $traps || $how = *-O0 ]] || continue
				[[ -z $traps && $how = *-O0 ]] || ((i % each == 0)) || continue
				# shellcheck disable=SC2086
				assert_equal "$how $traps $condition: $(told -t One::judge -a $traps --when="$condition" -- ./conditions)" \
					"$how $traps $condition: $wanted 0"
			done
		done <said
	done
}

@test "members of virtual bases: gdb's conditional breakpoints count the same calls" {
	needs gdb g++ jq
	conditions
	for how in -O0 -O2; do
		g++ -g $how -std=c++17 -w -I. -o conditions "$SOURCES/tests/cli/conditions.cpp"
		while read -r function condition; do
			printf '%s\n' "break $function if $condition" commands silent continue end run >commands
			gdb -q -nx -batch -iex 'set debuginfod enabled off' -x commands -ex 'info breakpoints' ./conditions >gdb
			wanted=$(sed -n 's/.*breakpoint already hit \([0-9]*\) times*/\1/p' gdb)
			for traps in "" --traps "--stack"; do
				# shellcheck disable=SC2086
				assert_equal "$how $traps $condition: $(told -t "$function" -a --depth=5 $traps --when="$condition" -- ./conditions)" \
					"$how $traps $condition: ${wanted:-0} 0"
			done
			# And the values are there.
			"$CPROF" replay x.data >replayed
			[ "${wanted:-0}" = 0 ] || grep -q 'shared=' replayed
			! grep unavailable replayed
		done <<-'END'
			Two::turn this->shared > 30
			Two::turn this->shared == 30
			Whole::third this->shared >= 40 && n != 5
			Whole::third this->one == 1 && this->shared < 20
			Whole::third this->two == 3
		END
	done
}

@test "a condition that can't be evaluated is not one that does not hold" {
	needs gcc g++ jq
	cat >null.c <<-'END'
		#include <stdio.h>
		struct s { int x; };
		__attribute__((noinline)) int visit(struct s *p, int n) { return p ? p->x + n : n; }
		int main(void)
		{
			struct s three = { 3 };
			int sum = 0;
			for (int i = 0; i < 10; i++)
				sum += visit(i % 3 ? &three : NULL, i);
			return sum != 63;
		}
	END
	gcc -g -O1 -o null null.c
	for traps in "" --traps; do
		# shellcheck disable=SC2086
		while read -r wanted unknown condition; do
			assert_equal "$condition: $(told -t visit -a $traps --when="$condition" -- ./null)" "$condition: $wanted $unknown"
		done <<-'END'
			6 4 p->x == 3
			0 4 p->x == 4
			6 0 p && p->x == 3
			4 1 n / (n - 2) > 0 && n < 7
		END
	done
	told -t visit -a --when='p->x == 3' -- ./null
	grep -q 'could be told of all but 4 calls' err
	"$CPROF" report x.data | grep -q '! 4 calls are not here, for which the condition of --when could not be evaluated'
	# What means nothing for any of the functions is known before the program starts.
	cat >nothing.cpp <<-'END'
		enum Color { RED, GREEN };
		enum class Shade { LIGHT, DARK };
		struct Base { int in_base; };
		struct Left : Base { int left; };
		struct Right : Base { int right; };
		struct Both : Left, Right { int both; };
		__attribute__((noinline, used)) int paint(Both b, Both *p, Color c, Shade s) { return b.both + p->both + c + (int)s; }
		int main() { Both b{}; return paint(b, &b, RED, Shade::LIGHT); }
	END
	g++ -g -O0 -o nothing nothing.cpp
	while IFS='|' read -r condition why; do
		separately -125 "$CPROF" run -o x.data -t paint --when="$condition" -- ./nothing
		assert_equal "${stderr%%$'\n'*}" "cprof: --when: it means nothing for the function that matches 'paint': $why"
	done <<-'END'
		b && c|no number: it is of type Both
		!b|no number: it is of type Both
		p->in_base == 1|more than one base of Both has a member in_base
		b.bot == 1|Both has no member bot
		c == BLUE|Color has no enumerator BLUE
		c == Shade::DARK|Color has no enumerator Shade::DARK
		*c == 1|no pointer and no array: it is of type Color
	END
}

@test "what a method calls by its name alone is decided without stops, as this-> is" {
	needs g++ jq
	cat >method.cpp <<-'END'
		#include <cstdio>
		enum Kind { PLAIN, ODD };
		struct Inner { long deep; };
		struct Tree {
			int depth = 0;
			Kind kind = PLAIN;
			Inner *inner = nullptr;
			Tree *self = this;
			__attribute__((noinline)) int step(int n)
			{
				asm volatile("" : : : "memory");
				return depth + n;
			}
		};
		int main()
		{
			Tree tree;
			Inner inner = { 0 };
			int sum = 0, deep = 0, odd = 0, both = 0;
			tree.inner = &inner;
			for (int i = 0; i < 1000; i++) {
				tree.depth = i;
				tree.kind = i % 3 ? PLAIN : ODD;
				inner.deep = i * 2;
				sum += tree.step(i % 7);
				deep += i > 900;
				odd += tree.kind == ODD;
				both += inner.deep >= 1500 && i % 7 == 3;
			}
			std::printf("%d depth > 900\n%d this->depth > 900\n%d kind == ODD\n%d ODD == kind\n", deep, deep, odd, odd);
			std::printf("%d inner->deep >= 1500 && n == 3\n%d self->inner->deep >= 1500 && n == 3\n", both, both);
			return sum == 0;
		}
	END
	g++ -g -O1 -o method method.cpp
	./method >said
	[ "$(wc -l <said)" = 6 ]
	while read -r wanted condition; do
		assert_equal "$condition: $(told -t Tree::step --when="$condition" -- ./method)" "$condition: $wanted 0"
		# But for the first call that is told, by which it is known who comes from main().
		[ "$("$CPROF" report --json x.data | jq .overhead.call_stops)" -le 1 ] || fail "$condition"
	done <said
}

@test "names that mean nothing in the function, its object and its file are refused" {
	needs g++
	printf '%s\n' 'int of_library = 3; int answer() { return of_library; }' >other.cpp
	cat >outside.cpp <<-'END'
		int limit = 3;
		static int in_file = 4;
		int answer();
		enum Kind { PLAIN, ODD };
		struct Tree {
			int depth = 1;
			Kind kind = ODD;
			__attribute__((noinline)) int step(int n) { return depth + n + limit + in_file; }
		};
		int main() { Tree tree; return tree.step(answer()) == 0; }
	END
	g++ -g -O0 -shared -fPIC -o libother.so other.cpp
	g++ -g -O0 -o outside outside.cpp ./libother.so
	while IFS='|' read -r condition why; do
		separately -125 "$CPROF" run -o x.data -t Tree::step --when="$condition" -- ./outside
		assert_equal "${stderr%%$'\n'*}" "cprof: $why"
	done <<-'END'
		n > limits|no function that matches 'Tree::step' has an argument 'limits'
		depth > limit && deep|no function that matches 'Tree::step' has an argument 'deep'
		n > of_library|no function that matches 'Tree::step' has an argument 'of_library'
		kind == PLANE|--when: it means nothing for the function that matches 'Tree::step': Kind has no enumerator PLANE
	END
	for condition in 'n > limit - 1' 'n < in_file && depth == 1' 'kind == ODD && limit' 'n == 3 && limit > PLAIN'; do
		assert_equal "$condition: $(told -t Tree::step --when="$condition" -- ./outside)" "$condition: 1 0"
	done
}

@test "a static of the function itself, not of another of its name" {
	needs g++ jq
	cat >own.cpp <<-'END'
		int calls = 7;
		__attribute__((noinline)) void count(int k) { static int calls = 100; calls += k; asm volatile(""); }
		__attribute__((noinline)) void count(double k) { static int calls = 500; calls += (int)k; asm volatile(""); }
		struct Box {
			int held = 1;
			__attribute__((noinline)) void hold() { static int calls = 300; calls += held; asm volatile(""); }
		};
		int main()
		{
			Box box;
			for (int i = 0; i < 10; i++) {
				count(1);
				count(1.0);
				box.hold();
			}
			return calls != 7;
		}
	END
	for how in "g++ -O0" "g++ -O2" "clang++ -O1"; do
		command -v "${how%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$how -g -o own own.cpp
		# The value is that of before the call.
		for wanted in 'count(int)|105|5' 'count(double)|508|8' 'Box::hold|303|3'; do
			IFS='|' read -r function below calls <<<"$wanted"
			assert_equal "$how $function: $(told -t "$function" --when="calls < $below" -- ./own)" \
				"$how $function: $calls 0"
		done
	done
}
