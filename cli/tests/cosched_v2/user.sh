# An ordinary user whose group has been left to them has all of it.
group left/daemon
group left/shell
hands_on left '+cpu'
left_to 1000 left
left_to 1000 left/daemon
left_to 1000 left/shell
by_user 1000
daemon_in left/daemon
submit a 9000
submit b 100
submit c 100
soon idle a
soon not idle a
goes_on b
stop
is none_is_left
goes_on a

# In a group that is not theirs programs are stopped by signals, and none waits in the idle class:
# nothing could take it out again.
group session
daemon_in session
is warned 'programs are stopped while they are taken in by SIGSTOP'
is warned 'without CAP_SYS_NICE or RLIMIT_NICE nothing could take it out again'
is warned 'no cpu controller'
stop
refused 'Permission denied' run --freezer v2 -- true
