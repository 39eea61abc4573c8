# Recordings made from text, for tests of what reads them. The format is in
# tests/unit/made_recording.h.

MAKE_RECORDING=$BUILD/tests/unit/make_recording

# made NAME <TEXT: the recording NAME.
made() { "$MAKE_RECORDING" "$1"; }

# A program with threads, recursion, inlined and guessed frames, a stack that
# does not reach the root, and names that mean harm. 900 ms, 90 samples.
workshop() {
	cat <<'END'
command ./workshop --rounds=3
clock cpu
hz 100
length 1000000
totals samples_lost=2 stops=90 stopped_ns=1800000 hold_median_ns=9000 hold_p99_ns=40000 restarted=1 tracer_cpu_ns=5000000 controller_cpu_ns=7000000 status=0
process 100 workshop /usr/bin/workshop
thread 100 100 workshop
thread 100 101 worker-1
thread 100 102 evil\e[31m\n</text><script>alert(1)</script>
s 100 100000 10 main|workshop|main.c|10;parse(int)|workshop|parse.c|20;parse(int)|workshop|parse.c|22;scan<char>|workshop|scan.h|5|i
s 100 200000 20 main|workshop|main.c|10;parse(int)|workshop|parse.c|20;malloc|/lib/libc.so.6|malloc.c|99
s 101 300000 30 start_thread|/lib/libc.so.6|pthread.c|1;work|workshop|work.c|7;qsort|/lib/libc.so.6|msort.c|3;|/opt/libfast.so|-|0|g
s 101 150000 15 start_thread|/lib/libc.so.6|pthread.c|1;work|workshop|work.c|8
s 102 100000 10 lost|workshop|main.c|1|t;a\sb\p</title><script>alert(1)</script>&"']]>|workshop|x.c|1;\e]0\sowned\n|workshop
s 102 50000 5 
END
}

# A program whose calls were traced, in two threads: values of all kinds, tail
# calls, an exception, recursion; main() goes on at the end. 3 ms, 14 calls.
desk() {
	cat <<'END'
command ./desk
length 3000
totals call_stops=40 call_rejected_inside=3 call_rejected_condition=5 call_functions=9 call_sites=20 stopped_ns=300000 stops=40 trap_ns=2000 status=0
process 200 desk /usr/bin/desk
thread 200 200 desk
thread 200 201 helper
c 200 10 main|desk|main.c|10 argc:2 argv:0x7ffe1234
c 200 10 lookup(char\_const*,int)|desk|look.c|5 host:"db\s1\n" n:4
r 200 30 10 "10.0.0.7"
c 200 5 geo::move(point,dir)|desk|move.c|7 p:{x:3,y:4} dir:1
c 201 3 work|desk|work.c|3 x:1.5
c 200 4 clamp|desk|move.c|2 -7
r 200 20 8 0
r 200 30 20 {x:3,y:5} i:9 j:?
r 201 10 10
c 200 5 a|desk|t.c|1 1
t 200 20 9 b|desk|t.c|9
c 200 2 b|desk|t.c|9 2
c 200 2 clamp|desk|move.c|2 9
r 200 19 9 9
t 200 20 10 gone|libc.so.6
c 200 5 thrower|desk|e.cc|1 ?
c 200 5 deeper|desk|e.cc|2
x 200 10 9
x 200 5 18
d 200 clamp|desk|move.c|2 12000
c 200 5 fact|desk|f.c|1 3
c 200 5 fact|desk|f.c|1 2
c 200 5 fact|desk|f.c|1 1
r 200 20 9 1
r 200 12 18 2
r 200 12 27 6
c 201 3 work|desk|work.c|3 x:2.5
x 201 30 9 ended
END
}

# busy_desk N: N rounds of calls in three threads, of made-up lengths.
busy_desk() {
	awk -v n="$1" 'BEGIN {
		srand(7)
		print "command ./busy"
		print "length", n * 100000
		print "process 1 busy /bin/busy\nthread 1 1 busy\nthread 1 2 w\nthread 1 3 w"
		for (i = 0; i < n; i++) {
			t = 1 + int(rand() * 3)
			if (d[t] < 6 && (rand() < 0.5 || !d[t])) {
				printf "c %d %d f%d|busy|f.c|%d n:%d s:\"%d\"\n", t, 1 + rand() * 30, rand() * 5, 1 + i % 9, i, i % 7
				d[t]++
			} else {
				printf "%s %d %d %d\n", rand() < 0.1 ? "x" : "r", t, 5 + rand() * 90, d[t] * 3
				d[t]--
			}
		}
		for (t = 1; t <= 3; t++)
			while (d[t]-- > 0)
				printf "r %d 50 0 %d\n", t, t
	}'
}
