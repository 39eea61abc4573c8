/* SPDX-License-Identifier: MIT
 *
 * Calls fetched_call() with what fetchprobe copies, overwrites it at once, and says what
 * it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	char bytes[16];
	const char *name;
};

__attribute__((noipa)) char *fetched_call(long number, char *text, struct pair *pair, char *bad,
					  char *out, int unused, const char *far, long eighth)
{
	char *answer = malloc(100);

	(void)bad;
	(void)unused;
	snprintf(answer, 100, "<%s-%s-%ld>", text, far, number + eighth);
	strcpy(out, "written");
	memset(text, 'x', strlen(text));
	memset(pair, 'y', sizeof(*pair));
	return answer;
}

int main(void)
{
	long i;

	for (i = 0; i < 50; i++) {
		struct pair pair = { .name = "named" };
		char text[120], out[20] = "before", *answer;

		memset(pair.bytes, (int)('a' + i % 20), sizeof(pair.bytes));
		pair.bytes[11] = 'Z';
		snprintf(text, sizeof(text), "text%ld", i);
		printf("enter %s %.3s %ld %s", text, text, i * 3, pair.name + 1);
		printf(" %d:%02x%02x far%s 900%ld unreadable none\n", 12, pair.bytes[0], 'Z',
		       i % 2 ? "" : "2", i % 10);
		answer = fetched_call(i * 3, text, &pair, (char *)16, out, 1,
				      i % 2 ? "far" : "far2", 9000 + i % 10);
		printf("leave text%ld amed %ld %s\n", i, i * 3, answer);
		printf("late %s\n", out);
		free(answer);
	}
	return 0;
}
