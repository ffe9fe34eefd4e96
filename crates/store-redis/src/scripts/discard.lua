-- Takes a task away that no client has seen.
local id = ARGV[1]
if call('HGET', key('task', id), 'hidden') ~= '1' then return 0 end
remove(id)
return 1
