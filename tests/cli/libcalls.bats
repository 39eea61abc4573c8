#!/usr/bin/env bats
# Calls of library functions through stubs.

load helpers
bats_require_minimum_version 1.5.0

@test "the system's headers type what library functions are called with" {
	cat >calls.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		int main(void)
		{
			char text[20];
			int fd = open("/dev/null", O_RDWR);
			double x = strtod("2.25", NULL);

			snprintf(text, sizeof(text), "%g", x);
			return write(fd, text, strlen(text)) != 4 || setenv("NAME", "value", 1) || atoi("7") != 7;
		}
	END
	${CC:-cc} -O0 -fno-builtin -o calls calls.c
	strip calls
	"$CPROF" run -q -o x.data -t 'plt:open,plt:strtod,plt:write,plt:strlen,plt:setenv,plt:atoi' -a -- ./calls
	"$CPROF" replay --json x.data | jq -r 'select(.event == "enter") | .function + " " +
		([.args[] | "\(.name)=\(.value) \(.type)"] | join(", "))' >out
	grep -xF 'open@plt file=/dev/null const char *, oflag=2 int' out
	grep -E '^strtod@plt nptr=2.25 .*, endptr=0x0 ' out
	grep -E '^write@plt fd=[0-9]+ int, buf=.* const void \*, n=4 size_t$' out
	grep -F 'strlen@plt s=2.25 const char *' out
	grep -F 'setenv@plt name=NAME const char *, value=value const char *, replace=1 int' out
	grep -F 'atoi@plt nptr=7 const char *' out
}
