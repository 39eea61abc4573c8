/* SPDX-License-Identifier: MIT
 *
 * How much of a listing a page has. Private to rows.c and rows_json.c.
 */
#ifndef CP_REPORT_ROWS_NEAR_H
#define CP_REPORT_ROWS_NEAR_H

#define CP_ROWS_CONTEXT 4u /* rows around one with weight */
#define CP_ROWS_LINES 20000u /* of one function, from its first line on */

#endif
