-- A new task: its record, its first log entry, its place, its configuration. Messages come in pairs of side and text.
local id, news, head, state, place, hidden, metadata, scope, context, tenant, said, meta, payload, config, stored,
  live_limit = unpack(ARGV, 1, 16)
local task = key('task', id)

if call('EXISTS', task) == 1 then return is_newest(id, meta, payload) and 'OK' or 'TAKEN' end
local live = tonumber(call('HGET', key('live'), tenant) or '0')
if live >= tonumber(live_limit) then return 'LIMIT' end

call('HSET', task, 'rev', '1', 'news', news, 'head', head, 'said', said, 'state', state,
  'place', place, 'hidden', hidden, 'ended', '0', 'scope', scope, 'context', context, 'tenant', tenant,
  'log-bytes', #meta + #payload)
if metadata ~= '' then call('HSET', task, 'metadata', metadata) end
for at = 17, #ARGV, 2 do call('RPUSH', key(ARGV[at], id), '1:' .. ARGV[at + 1]) end
call('XADD', key('log', id), '1-0', 'm', meta, 'p', payload)
call('ZADD', key('tasks'), 0, id)
call('HINCRBY', key('live'), tenant, 1)
if hidden == '0' then put_up(place, scope, context, state) end
if config ~= '' then put_config(id, config, stored) end
return 'OK'
