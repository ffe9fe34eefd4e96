return drop_config(ARGV[1], ARGV[2])
