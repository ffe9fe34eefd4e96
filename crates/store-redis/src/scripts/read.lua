return show(ARGV[1], -1, true)
