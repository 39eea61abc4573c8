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
