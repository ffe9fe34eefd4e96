-- Takes tasks away: looks at so many in the order of their ids, and takes those of a tenant and of a context. Nothing
-- named there stands for any. With the last of a tenant goes what is remembered of its sends, if asked for. Answers with
-- how many went, which of them were live, and the last that was looked at.
local from, to, most, tenant, context, sends = unpack(ARGV)
local ids = call('ZRANGE', key('tasks'), from, to, 'BYLEX', 'LIMIT', 0, most)
local removed, live = 0, {}
for _, id in ipairs(ids) do
  local of, within, ended = unpack(call('HMGET', key('task', id), 'tenant', 'context', 'ended'))
  if (tenant == '' or of == tenant) and (context == '' or within == context) then
    if ended == '0' then live[#live + 1] = id end
    remove(id)
    removed = removed + 1
  end
end
if #ids == tonumber(most) then return {removed, live, ids[#ids]} end
if sends == '1' then call('UNLINK', key('sent', tenant), key('sent-until', tenant)) end
return {removed, live, ''}
