-- Makes work due at a moment, and tells other replicas where that has come.
local id, config, epoch, due = unpack(ARGV)
if not is_held(id, config, epoch) then return 0 end
call('ZADD', key('due'), due, member_of(id, config))
if config == '' then call('HSET', key('task', id), 'handed', 1) end
local now = call('TIME')
if tonumber(due) <= now[1] * 1000 + math.floor(now[2] / 1000) then call('SPUBLISH', key('work'), 'd') end
return 1
