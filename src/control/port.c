/* SPDX-License-Identifier: MIT
 *
 * TCP has no credentials. But both ends of a connection over the loopback device are in
 * the kernel's table of this network namespace, with the user whose each is.
 */
#include "control/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

CP_ERROR cp_control_listen_at(uint16_t port, int *ret)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 16)) {
		struct cp_error *err =
			cp_error_new(CP_ERR_IO, errno, "listening at port %u of 127.0.0.1", port);

		if (fd >= 0)
			close(fd);
		return err;
	}
	*ret = fd;
	return NULL;
}

/* A line of the table. Addresses are printed as the words they are in memory. */
struct row {
	unsigned local, local_port, remote, remote_port;
	unsigned uid;
	unsigned long inode; /* 0: nobody has the socket any more, whatever `uid` says */
};

static bool read_row(const char *line, struct row *ret)
{
	return sscanf(line, "%*u: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u %*u %lu", &ret->local,
		      &ret->local_port, &ret->remote, &ret->remote_port, &ret->uid,
		      &ret->inode) == 6;
}

uid_t cp_control_port_peer(int fd)
{
	struct sockaddr_in own = { 0 }, peer = { 0 };
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
	uid_t ret = (uid_t)-1;
	struct row row;
	char line[512];
	FILE *table;

	if (getsockname(fd, (struct sockaddr *)&own, &own_size) ||
	    getpeername(fd, (struct sockaddr *)&peer, &peer_size))
		return ret;
	table = fopen("/proc/self/net/tcp", "re");
	if (!table)
		return ret;
	while (fgets(line, sizeof(line), table))
		if (read_row(line, &row) && row.inode && row.local == peer.sin_addr.s_addr &&
		    row.local_port == ntohs(peer.sin_port) && row.remote == own.sin_addr.s_addr &&
		    row.remote_port == ntohs(own.sin_port))
			ret = row.uid;
	fclose(table);
	return ret;
}
