-- A configuration in place of the one of the same id, or as a further one within the limit.
local id, config, stored, most = unpack(ARGV)
if call('EXISTS', key('task', id)) == 0 then return 'NOTASK' end
if not has_room(id, config, most) then return 'LIMIT' end
put_config(id, config, stored)
return 'OK'
