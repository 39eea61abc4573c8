#!/usr/bin/env bats
# Attaches of all kinds to programs that work meanwhile: what these say of themselves in
# the end, and that each byte of their code is as it was after each round.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	local pid

	for pid in "${pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

rounds() { "$BATS_TEST_DIRNAME/rounds" --cprof="$CPROF" --rounds="$(long_or 300 14)" "$@"; }

@test "a C++ program whose threads throw through each other's frames" {
	cat >throws.cpp <<'END'
#include <atomic>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
static std::atomic<bool> done;
static std::atomic<long> wrong, thrown;
struct counted {
	static thread_local long alive;
	counted() { alive++; }
	~counted() { alive--; }
};
thread_local long counted::alive;
__attribute__((noinline)) static int deep(int n, int limit)
{
	counted here;

	if (n == limit)
		throw std::out_of_range(std::to_string(n));
	return deep(n + 1, limit) + (int)counted::alive;
}
__attribute__((noinline)) static int again(int limit)
{
	counted here;

	try {
		return deep(0, limit);
	} catch (std::out_of_range &e) {
		thrown++;
		if (std::stoi(e.what()) != limit || counted::alive != 1)
			wrong++;
		if (limit % 3 == 0)
			throw std::runtime_error("again");
	}
	return limit;
}
static void work(int seed)
{
	std::map<int, std::string> seen;

	for (int i = seed; !done; i++) {
		try {
			seen[i % 100] = std::to_string(again(i % 17));
		} catch (std::runtime_error &e) {
			seen.erase(i % 100);
		}
		if (counted::alive)
			wrong++;
	}
}
int main(int, char **argv)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(work, i);
	while (access(argv[1], F_OK))
		usleep(10000);
	done = true;
	for (auto &t : threads)
		t.join();
	printf("%ld wrong, %s thrown\n", wrong.load(), thrown > 1000 ? "many" : "few");
	return wrong != 0;
}
END
	"${CXX:-c++}" -O2 -g -o throws throws.cpp -pthread
	./throws stop >said &
	pids=($!)
	rounds "${pids[0]}"
	touch stop
	wait "${pids[0]}"
	assert_equal "$(<said)" '0 wrong, many thrown'
}

@test "redis-server while it is asked" {
	needs redis-server redis-benchmark redis-cli
	redis-server --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no \
		--dir "$PWD" >redis.log &
	pids=($!)
	until redis-cli -s socket ping 2>/dev/null | grep -q PONG; do kill -0 "${pids[0]}"; done
	while [ ! -e stop ]; do
		redis-benchmark -s socket -t set,get,lpush,lpop -n 20000 -r 1000 -d 100 -q >>asked 2>&1
	done &
	pids+=($!)
	rounds "${pids[0]}"
	touch stop
	wait "${pids[1]}"
	run ! grep -i 'error\|wrong' asked
	redis-cli -s socket set key "$(seq 1000 | tr -d '\n')"
	assert_equal "$(redis-cli -s socket get key)" "$(seq 1000 | tr -d '\n')"
	redis-cli -s socket shutdown nosave || true
	wait "${pids[0]}"
}
