/* SPDX-License-Identifier: MIT
 *
 * A library that is loaded later, with the compiler's unwinder from a shared
 * library like everybody: what it calls throws through it, or it throws itself.
 */
#include <stdexcept>

extern "C" __attribute__((noipa, visibility("default"))) void calls_back(void (*f)())
{
	struct guard {
		~guard()
		{
			asm volatile("" ::: "memory");
		}
	} g;

	if (!f)
		throw std::runtime_error("library");
	f();
}
