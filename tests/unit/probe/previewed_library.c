/* SPDX-License-Identifier: MIT */
int previewed_in_library(int n);

__attribute__((visibility("default"))) int previewed_in_library(int n)
{
	return n * 2;
}
