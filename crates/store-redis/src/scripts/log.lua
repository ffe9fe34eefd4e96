-- Entries after a revision, with where the log ends.
local id, after, most = unpack(ARGV)
local f = call('HMGET', key('task', id), 'news', 'context')
if not f[1] then return false end
return {f[1], f[2], call('XRANGE', key('log', id), '(' .. after .. '-0', '+', 'COUNT', most)}
