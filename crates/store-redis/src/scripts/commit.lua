-- One step of a task. It compares the revision and applies; it knows no rule of the lifecycle.
local id, news, head, state, place, hidden, expected, rev, ended, ended_at, meta, payload, what, how, which,
  log_entries, log_bytes, finished_most, config, stored, config_most, epoch, offer, holder, run_due, most_asked,
  delivery_due, salt, send, record, now, till, sends_most, sends_bytes = unpack(ARGV)
local task = key('task', id)
local f = call('HMGET', task, 'rev', 'state', 'place', 'hidden', 'ended', 'scope', 'context', 'tenant', 'said',
  'log-bytes', 'owner', 'holder')
local at, old_state, old_place, was_hidden, had_ended, scope, context, tenant, said, bytes, owner, held_by = unpack(f)
local run, delivery = {0, 0, ''}, 0
if not at then return {'GONE', 0, run, delivery} end
local first = send and recall(tenant, send, now)
-- The send's own record says that this very step was taken, be it that others came after it.
if at == rev and is_newest(id, meta, payload) or first and first == record then
  if offer ~= '' then run = granted_run(id) end
  return {'OK', 0, run, granted_delivery(id, config)}
end
if first then return {'REPEATED:' .. first, 0, run, delivery} end
if at ~= expected then return {'CONFLICT', 0, run, delivery} end
if epoch ~= '' and epoch ~= owner then return {'SUPERSEDED', 0, run, delivery} end
if config ~= '' and not has_room(id, config, config_most) then return {'CONFIG-LIMIT', 0, run, delivery} end

if what == 'message' then
  call('RPUSH', key(how, id), rev .. ':' .. payload)
elseif what == 'status' then
  if said ~= '' and how ~= 'drop' then
    if how == 'append-for-oldest' then call('LPOP', key('agent', id)) end
    call('RPUSH', key('agent', id), rev .. ':' .. said)
  end
  said = payload
elseif what == 'artifact' then
  local parts = key('parts', id)
  if how == 'replace' then
    for chunk = 1, tonumber(call('HGET', parts, which) or '0') do call('HDEL', parts, which .. '.' .. chunk) end
    call('HDEL', parts, which)
  end
  call('HSET', parts, which .. '.' .. call('HINCRBY', parts, which, 1), payload)
end

local log = key('log', id)
call('XADD', log, rev .. '-0', 'm', meta, 'p', payload)
bytes = tonumber(bytes) + #meta + #payload
local entries = call('XLEN', log)
while entries > 1 and (entries > tonumber(log_entries) or bytes > tonumber(log_bytes)) do
  local oldest = call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
  call('XDEL', log, oldest[1])
  bytes = bytes - #oldest[2][2] - #oldest[2][4]
  entries = entries - 1
end

call('HSET', task, 'rev', rev, 'news', news, 'head', head, 'said', said, 'state', state,
  'place', place, 'hidden', hidden, 'ended', ended, 'log-bytes', bytes)
if place ~= old_place or state ~= old_state or hidden ~= was_hidden then
  if was_hidden == '0' then take_down(old_place, scope, context, old_state) end
  if hidden == '0' then put_up(place, scope, context, state) end
end
if config ~= '' then delivery = put_config(id, config, stored, string.match(news, '^%S+'), delivery_due, salt) end
if offer ~= '' then
  run = owner and {0, ask(id, offer, most_asked), held_by} or begin_run(id, offer, holder, run_due, salt)
end
if send then remember(tenant, send, record, now, till, sends_most, sends_bytes) end
call('SPUBLISH', key('news', id), news)

local retired = 0
if ended == '1' and had_ended == '0' then
  if owner then end_run(id) end
  local done = key('done', tenant)
  one_live_task_less(tenant)
  call('ZADD', key('ended'), ended_at, id)
  call('ZADD', done, 0, place)
  -- More than one only after the bound was lowered; the rest leaves with the next ones.
  while retired < 16 and call('ZCARD', done) > tonumber(finished_most) do
    local oldest = call('ZPOPMIN', done)[1]
    remove(string.sub(oldest, PLACE_ID))
    retired = retired + 1
  end
end
return {'OK', retired, run, delivery}
