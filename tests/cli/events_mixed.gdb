# What gdb sees of events_mixed, as it comes: EVENT THREAD WHAT.
set pagination off
set confirm off
set debuginfod enabled off
set startup-with-shell off
set breakpoint pending on
handle all nostop noprint pass
catch throw
commands
silent
printf "EVENT %d throw\n", $_thread
continue
end
catch rethrow
commands
silent
printf "EVENT %d throw\n", $_thread
continue
end
catch catch
commands
silent
printf "EVENT %d catch\n", $_thread
continue
end
catch fork
commands
silent
printf "EVENT %d fork\n", $_thread
continue
end
catch load libplugin
commands
silent
printf "EVENT %d load\n", $_thread
continue
end
catch unload libplugin
commands
silent
printf "EVENT %d unload\n", $_thread
continue
end
catch signal SIGUSR1 SIGUSR2 SIGSEGV
commands
silent
printf "EVENT %d signal %d\n", $_thread, $_siginfo.si_signo
continue
end
run
