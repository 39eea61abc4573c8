/* SPDX-License-Identifier: MIT
 *
 * make_recording FILE <TEXT: see made_recording.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "made_recording.h"

int main(int argc, char **argv)
{
	struct cp_buf text = { 0 };
	struct cp_error *err;
	char bytes[65536];
	size_t n;
	int fd;

	if (argc != 2)
		return 2;
	while ((n = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
		cp_buf_add(&text, bytes, n);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = fd < 0 ? cp_error_new(CP_ERR_IO, 0, "opening %s", argv[1])
		     : made_write(text.bytes ? text.bytes : "", fd);
	cp_buf_free(&text);
	if (err) {
		fprintf(stderr, "%s\n", err->what);
		cp_error_free(err);
		return 1;
	}
	return 0;
}
