/* SPDX-License-Identifier: MIT */
static int counter = 77;
int of_other(void);

int of_other(void)
{
	static int calls = 3;

	return counter + calls++;
}
