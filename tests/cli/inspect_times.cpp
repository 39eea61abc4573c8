/* SPDX-License-Identifier: MIT
 *
 * Durations and points in time, for tests of `cprof inspect`: prints what each is, as the C
 * library has it; "ready" when it did. With an argument it hands one of each to a function.
 */
#include <chrono>
#include <ratio>
#include <stdio.h>
#include <string>
#include <time.h>
#include <unistd.h>

using namespace std::chrono;
template <long long N, long long D = 1> using ticks = duration<long long, std::ratio<N, D>>;

nanoseconds nano{ 1234567890123 };
microseconds micro{ -5 };
milliseconds milli{ 1500 };
seconds second{ 0 };
minutes minute{ 90 };
hours hour{ 24 };
ticks<86400> day{ 7 };
ticks<1, 100> centi{ 3 };
ticks<1, 1000000000000> pico{ 77 };
ticks<1, 30> frame{ 45 };
ticks<604800> week{ 2 };
duration<double> real{ 2.5 };
duration<float, std::milli> small_real{ 0.25f };
duration<unsigned short, std::ratio<60>> narrow{ 65535 };
const milliseconds constant{ 20 };
struct options {
	milliseconds timeout{ 250 };
	seconds limit[2]{ seconds{ 1 }, seconds{ 2 } };
} options;
steady_clock::time_point steady{ nanoseconds{ 987654321 } };

system_clock::time_point epoch, now, before{ system_clock::duration{ -1 } };
time_point<system_clock, seconds> leap{ seconds{ 951782400 } };
time_point<system_clock, milliseconds> in_millis{ milliseconds{ 1709209800250 } };
time_point<system_clock, duration<double>> in_doubles{ duration<double>{ 1000000000.5 } };
time_point<system_clock, ticks<86400>> on_day{ ticks<86400>{ -25509 } };
time_point<system_clock, seconds> last{ seconds{ 253402300799 } },
	too_late{ seconds{ 253402300800 } };
time_point<system_clock, seconds> first{ seconds{ -62167219200 } };

template <class T> static void is(const char *name, T value, const char *unit)
{
	std::string text = std::to_string(value.count());

	if (text.find('.') != std::string::npos) {
		text.erase(text.find_last_not_of('0') + 1);
		if (text.back() == '.')
			text.pop_back();
	}
	printf("%s = %s%s\n", name, text.c_str(), unit);
}

/* `digits` behind the second; -1: the day alone. */
static void dated(const char *name, long long seconds, long long parts, int digits)
{
	time_t at = seconds;
	struct tm tm;

	gmtime_r(&at, &tm);
	printf("%s = %04d-%02d-%02d", name, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	if (digits >= 0)
		printf("T%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (digits > 0)
		printf(".%0*lld", digits, parts);
	printf(digits < 0 ? "\n" : "Z\n");
}

__attribute__((noinline)) milliseconds wait_for(milliseconds limit, system_clock::time_point until,
						const duration<double> &share)
{
	asm volatile("" : : "r"(&until), "r"(&share) : "memory");
	return limit * 2;
}

int main(int argc, char **argv)
{
	/* libstdc++ counts nanoseconds, libc++ microseconds. */
	const long long den = system_clock::period::den;
	const int digits = den == 1000000000 ? 9 : 6;
	long long n;

	now = system_clock::now();
	if (argc > 1)
		return wait_for(milli, system_clock::time_point{ seconds{ 951782400 } }, real)
			       .count() != 3000;
	is("nano", nano, "ns");
	is("micro", micro, "us");
	is("milli", milli, "ms");
	is("second", second, "s");
	is("minute", minute, "min");
	is("hour", hour, "h");
	is("day", day, "d");
	is("centi", centi, "cs");
	is("pico", pico, "ps");
	is("frame", frame, "[1/30]s");
	is("week", week, "[604800]s");
	is("real", real, "s");
	is("small_real", small_real, "ms");
	is("narrow", narrow, "min");
	is("constant", constant, "ms");
	is("steady", steady.time_since_epoch(), "ns");
	dated("epoch", 0, 0, digits);
	n = now.time_since_epoch().count();
	dated("now", n / den, n % den, digits);
	dated("before", -1, den - 1, digits);
	dated("leap", 951782400, 0, 0);
	dated("in_millis", 1709209800, 250, 3);
	dated("in_doubles", 1000000000, 0, 0);
	dated("on_day", -25509LL * 86400, 0, -1);
	dated("last", 253402300799, 0, 0);
	is("too_late", too_late.time_since_epoch(), "s");
	dated("first", -62167219200, 0, 0);
	printf("options = {timeout=250ms, limit={1s, 2s}}\n");
	printf("ready\n");
	fflush(stdout);
	char c;
	return (int)read(0, &c, 1) < 0 && argv;
}
