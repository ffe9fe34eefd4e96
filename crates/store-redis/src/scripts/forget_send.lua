-- Forgets a send.
forget(ARGV[1], ARGV[2])
return 1
