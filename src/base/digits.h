/* SPDX-License-Identifier: MIT
 *
 * Floating point as text.
 */
#ifndef CP_BASE_DIGITS_H
#define CP_BASE_DIGITS_H

#include <stdbool.h>

#define CP_DIGITS_MAX 40

/* The fewest digits that read back as the same number, of a `single` as the same float, but for
 * less than 15, or 6, where there are none behind them; in the form of printf's %g, "nan", "inf"
 * or "-inf". */
void cp_digits(char text[CP_DIGITS_MAX], double value, bool single);

#endif
