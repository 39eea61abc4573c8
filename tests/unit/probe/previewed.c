/* SPDX-License-Identifier: MIT
 *
 * A program that loads nothing and starts nothing, with a library of its own.
 */
int previewed_in_library(int n);

__attribute__((noinline)) static int parse_line(int n)
{
	return previewed_in_library(n) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return parse_line(argc) == 0;
}
