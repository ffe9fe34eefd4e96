-- Where a task stands, and what the entry is at a revision that somebody has seen.
local id, seen = unpack(ARGV)
local news = call('HGET', key('task', id), 'news')
if not news then return false end
local entry = call('XRANGE', key('log', id), seen .. '-0', seen .. '-0')[1]
return {news, entry and entry[2][2] or ''}
