-- Everything that is asked of a run, for its holder.
local id, epoch = unpack(ARGV)
if not is_held(id, '', epoch) then return false end
return call('HGETALL', key('asks', id))
