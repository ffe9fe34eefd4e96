-- A new task: its record, its first log entry, its place, its configuration, its work, the send that makes it. Messages
-- come in pairs of side and text.
local id, news, head, state, place, hidden, metadata, scope, context, tenant, said, meta, payload, config, stored,
  live_limit, offer, holder, run_due, delivery_due, salt = unpack(ARGV, 1, 21)
local send, record, now, till, sends_most, sends_bytes = unpack(ARGV, 22, 27)
local task = key('task', id)

if call('EXISTS', task) == 1 then
  if not is_newest(id, meta, payload) then return {'TAKEN', {0, 0, ''}, 0} end
  return {'OK', granted_run(id), granted_delivery(id, config)}
end
if send ~= '' then
  local first = recall(tenant, send, now)
  if first then return {'REPEATED:' .. first, {0, 0, ''}, 0} end
end
local live = tonumber(call('HGET', key('live'), tenant) or '0')
if live >= tonumber(live_limit) then return {'LIMIT', {0, 0, ''}, 0} end

call('HSET', task, 'rev', '1', 'news', news, 'head', head, 'said', said, 'state', state,
  'place', place, 'hidden', hidden, 'ended', '0', 'scope', scope, 'context', context, 'tenant', tenant,
  'log-bytes', #meta + #payload)
if metadata ~= '' then call('HSET', task, 'metadata', metadata) end
for at = 28, #ARGV, 2 do call('RPUSH', key(ARGV[at], id), '1:' .. ARGV[at + 1]) end
call('XADD', key('log', id), '1-0', 'm', meta, 'p', payload)
call('ZADD', key('tasks'), 0, id)
call('HINCRBY', key('live'), tenant, 1)
if hidden == '0' then put_up(place, scope, context, state) end
local run, delivery = {0, 0, ''}, 0
if offer ~= '' then run = begin_run(id, offer, holder, run_due, salt) end
if config ~= '' then delivery = put_config(id, config, stored, '0-00000000', delivery_due, salt) end
if send ~= '' then
  call('HSET', task, 'send', send)
  remember(tenant, send, record, now, till, sends_most, sends_bytes)
end
return {'OK', run, delivery}
