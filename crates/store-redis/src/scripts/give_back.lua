-- Makes work due at a moment, and tells other replicas.
local id, config, epoch, due = unpack(ARGV)
if not is_held(id, config, epoch) then return 0 end
call('ZADD', key('due'), due, member_of(id, config))
call('SPUBLISH', key('work'), 'd')
return 1
