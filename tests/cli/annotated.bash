# A recording with annotations of all kinds, made from text (recordings.bash):
# two threads, spans that nest, one that began in a call and outlasts it, two
# that overlap, async jobs handed over, fibers, counters, an end without a
# beginning, what is never ended, names that mean harm. 2 ms.

studio() {
	cat <<'END'
command ./studio
length 2000
totals status=0 annotations_lost=7
process 300 studio /usr/bin/studio
thread 300 300 studio
thread 300 301 helper
c 300 100 frame|studio|main.c|10
a 300 110 begin 1 load main.c level-1
a 300 120 begin 2 parse main.c
a 300 180 end 2
a 300 185 begin 3 parse main.c
a 300 190 instant hit\_the\_cache main.c key\e[31m
a 300 195 end 3
a 300 200 end 1
r 300 200 0
c 300 50 late|studio|main.c|20
a 300 360 begin 4 crosses main.c
r 300 50 0
a 300 420 end 4
a 300 500 begin 5 first main.c
a 300 510 begin 6 second main.c
a 300 520 end 5
a 300 530 end 6
a 300 540 start 7 job main.c 1
a 300 545 start 8 job main.c 2
a 301 600 finish 7
a 300 550 counter 3 queued main.c
a 300 560 counter -2 queued main.c
a 300 555 counter 9 queued main.c
a 301 100 thread the\_helper
a 301 650 begin 9 work main.c
a 301 660 switch 0 1
a 301 661 begin 10 cook main.c
a 301 670 switch 1 2
a 301 671 begin 11 bake main.c
a 301 680 switch 2 1
a 301 690 end 10
a 301 700 switch 1 0
a 301 710 end 9
a 301 720 end 77
a 301 730 fiber 1 chef
a 300 800 lost 7
END
}
