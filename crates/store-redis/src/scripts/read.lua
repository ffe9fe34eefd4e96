-- A task as it stands; 1 where that is what the reader knows by its news.
local id, known = unpack(ARGV)
if known ~= '' and call('HGET', key('task', id), 'news') == known then return 1 end
return show(id, -1, true)
