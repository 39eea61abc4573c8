/* SPDX-License-Identifier: MIT
 *
 * A class that clang describes in full only where its constructor is defined,
 * and a struct that C keeps to itself.
 */
#ifndef TORTURE_PARTS_H
#define TORTURE_PARTS_H

namespace parts
{
struct homed {
	int x, y;
	explicit homed(int a);
	homed(const homed &o);
	~homed();
};
struct light {
	long a;
	explicit light(long n);
};
struct opaque;
opaque *make(int n);
} // namespace parts

#endif
