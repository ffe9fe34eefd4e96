-- Notes up to where a webhook was delivered, and lets its lease run until a moment.
local id, config, epoch, cursor, due = unpack(ARGV)
if not is_held(id, config, epoch) then return 0 end
call('HSET', key('delivered', id), config, epoch .. ' ' .. cursor)
call('ZADD', key('due'), due, member_of(id, config))
return 1
