/* SPDX-License-Identifier: MIT
 *
 * Runs a program as a container with defaults does: no capabilities, none to be
 * gained, and a filter that refuses with EPERM what Docker's and Podman's
 * refuse. What they let through with certain arguments alone (personality, clone,
 * socket) is as there; clone3 does not exist.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ARE(n, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), REFUSE(error)

static const int refused[] = {
	SYS_acct,
	SYS_add_key,
	SYS_bpf,
	SYS_chroot,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_fanotify_init,
	SYS_finit_module,
	SYS_get_mempolicy,
	SYS_init_module,
	SYS_kcmp,
	SYS_kexec_load,
	SYS_keyctl,
	SYS_lookup_dcookie,
	SYS_mbind,
	SYS_mount,
	SYS_move_pages,
	SYS_open_by_handle_at,
	SYS_perf_event_open,
	SYS_pidfd_getfd,
	SYS_pivot_root,
	SYS_process_madvise,
	SYS_quotactl,
	SYS_reboot,
	SYS_request_key,
	SYS_set_mempolicy,
	SYS_setdomainname,
	SYS_sethostname,
	SYS_setns,
	SYS_settimeofday,
	SYS_swapoff,
	SYS_swapon,
	SYS_syslog,
	SYS_umount2,
	SYS_unshare,
	SYS_userfaultfd,
	SYS_vhangup,
	SYS_io_uring_setup,
};

#define COUNT (sizeof(refused) / sizeof(refused[0]))

static int filter(void)
{
	static struct sock_filter code[2 * COUNT + 32];
	const struct sock_filter special[] = {
		ARE(SYS_clone3, ENOSYS),
		/* personality: 0, 8, 0x20000, 0x20008, -1 */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 7),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 8, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x20000, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 1, 0),
		REFUSE(EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		/* clone: no namespaces */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7e020000, 0, 1),
		REFUSE(EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 0, code };
	size_t n = 0, i;

	code[n++] = (struct sock_filter)LOAD(nr);
	for (i = 0; i < COUNT; i++) {
		const struct sock_filter rule[] = { ARE((unsigned)refused[i], EPERM) };

		memcpy(code + n, rule, sizeof(rule));
		n += 2;
	}
	memcpy(code + n, special, sizeof(special));
	program.len = (unsigned short)(n + sizeof(special) / sizeof(special[0]));
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	int cap;

	for (cap = 0; cap <= CAP_LAST_CAP; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (argc < 2 || syscall(SYS_capset, &head, none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || filter()) {
		fprintf(stderr, "contained: %s\n", strerror(errno));
		return 125;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
