-- Leaves an answer to what was asked of a run, and tells other replicas.
local id, epoch, number, answer, most, kept = unpack(ARGV)
if not is_held(id, '', epoch) then return 0 end
if kept == '0' then call('HDEL', key('asks', id), number) end
call('HSET', key('answers', id), number, answer)
bound(key('answers', id), most, 1)
call('SPUBLISH', key('work'), 'r' .. id)
return 1
