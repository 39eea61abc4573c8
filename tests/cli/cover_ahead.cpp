/* What a process does that is not the first one: in ways that lead past what is known.
 * It writes the number of each line marked RAN as it gets there. */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#define RAN dprintf(1, "%d\n", __LINE__)

static jmp_buf back;
static volatile int zero;

static void jumps(int deep)
{
	if (deep)
		RAN, jumps(deep - 1);
	else
		RAN, longjmp(back, 1);
	RAN; /* never */
}

static void longjmps()
{
	if (setjmp(back)) {
		RAN;
		return;
	}
	jumps(3);
	RAN; /* never */
}

struct guard {
	~guard()
	{
		RAN;
	}
};

static int thrower(int n)
{
	guard g;
	if (n == 1)
		RAN, throw std::runtime_error("one");
	if (n == 2)
		RAN, throw 2;
	return RAN;
}

static void throws(int n)
{
	try {
		RAN, thrower(n);
		RAN;
	} catch (const std::exception &e) {
		if (*e.what() == 'o')
			RAN;
	} catch (int) {
		RAN;
	}
	RAN;
}

static void computed(const char *code)
{
	static const void *const to[] = { &&end, &&one, &&two, &&three };
	goto *to[*code - '0'];
one:
	RAN;
	goto *to[*++code - '0'];
two:
	RAN;
	if (code[1] == '3')
		RAN;
	goto *to[*++code - '0'];
three:
	RAN;
	goto *to[*++code - '0'];
end:
	RAN;
}

static void switches(int n)
{
	switch (n) {
	case 0:
		RAN;
		break;
	case 1:
		RAN; /* fall through */
	case 2:
		RAN;
		break;
	case 3:
		RAN;
		break;
	case 4:
		RAN; /* fall through */
	case 5:
	case 6:
		RAN;
		break;
	default:
		RAN;
	}
	while (n--)
		if (n & 1)
			RAN;
		else
			RAN;
}

static void handler(int signal)
{
	if (signal == SIGUSR1)
		RAN;
	else
		RAN, siglongjmp(back, 1);
}

static void signals(int hard)
{
	signal(SIGUSR1, handler);
	signal(SIGSEGV, handler);
	if (sigsetjmp(back, 1)) {
		RAN;
		return;
	}
	if (hard) {
		RAN;
		*(volatile int *)(long)zero = 1;
		RAN; /* never */
	}
	raise(SIGUSR1);
	RAN;
}

static pthread_barrier_t together;

static void *thread(void *arg)
{
	long n = (long)arg;

	pthread_barrier_wait(&together);
	for (long i = 0; i < 50; i++)
		if (i == n)
			RAN;
		else if (i == n + 1 && n & 1)
			RAN;
		else
			zero = 0;
	return n > 2 ? (RAN, arg) : nullptr;
}

static void threads()
{
	pthread_t all[8];

	pthread_barrier_init(&together, nullptr, 8);
	for (long n = 0; n < 8; n++)
		pthread_create(&all[n], nullptr, thread, (void *)n);
	for (pthread_t t : all)
		pthread_join(t, nullptr);
	RAN;
}

static void child(int n)
{
	if (n & 1)
		RAN;
	if (n & 2)
		RAN;
	if (n & 4)
		RAN;
	_exit(n);
}

static void forks(char *self)
{
	for (int n = 0; n < 8; n += 3)
		if (!fork())
			RAN, child(n);
	while (wait(nullptr) > 0)
		RAN;
	if (!vfork())
		RAN, execl(self, self, "plain", nullptr), _exit(1);
	wait(nullptr);
	if (!vfork()) {
		if (zero)
			RAN;
		_exit(0);
	}
	wait(nullptr);
	RAN;
}

#define MANY(F) F(a) F(b) F(c) F(d) F(e) F(f) F(g) F(h) F(i) F(j) F(k) F(l) F(m) F(n) F(o) F(p)
#define MAKE(x) \
	static int many_##x(int n) \
	{ \
		return n > 3 ? RAN : n > 1 ? n * 2 : n ? n + 3 : zero; \
	}
MANY(MAKE) /* RAN */
#define CALL(x) sum += many_##x(n);

static int many(int n)
{
	int sum = 0;
	MANY(CALL)
	RAN;
	return sum;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	setvbuf(stdout, nullptr, _IONBF, 0);
	if (!strcmp(how, "longjmps"))
		longjmps();
	else if (!strcmp(how, "throws"))
		throws(n);
	else if (!strcmp(how, "computed"))
		computed(argv[2]);
	else if (!strcmp(how, "switches"))
		switches(n);
	else if (!strcmp(how, "signals"))
		signals(n);
	else if (!strcmp(how, "threads"))
		threads();
	else if (!strcmp(how, "forks"))
		forks(argv[0]);
	else if (!strcmp(how, "many"))
		many(n);
	else if (!strcmp(how, "exits"))
		RAN, exit(n);
	RAN;
	return 0;
}
