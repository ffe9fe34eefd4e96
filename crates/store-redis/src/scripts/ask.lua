-- Asks for something of the run of a task, if it has one.
local id, asked, most = unpack(ARGV)
local f = call('HMGET', key('task', id), 'owner', 'holder')
if not f[1] then return false end
return {ask(id, asked, most), f[2]}
