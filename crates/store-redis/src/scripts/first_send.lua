-- What is remembered of a send.
local tenant, send, now = unpack(ARGV)
return recall(tenant, send, now)
