-- A configuration in place of the one of the same id, or as a further one within the limit.
local id, config, stored, most, due, salt = unpack(ARGV)
local news = call('HGET', key('task', id), 'news')
if not news then return {'NOTASK', 0} end
if not has_room(id, config, most) then return {'LIMIT', 0} end
return {'OK', put_config(id, config, stored, string.match(news, '^%S+'), due, salt)}
