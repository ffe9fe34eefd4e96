-- What every script begins with. KEYS[1] is the stem of a bucket; all that a script touches lies in that bucket.
local call = redis.call
local stem = KEYS[1]

local function key(...)
  return table.concat({stem, ...}, ':')
end

-- The lists that a visible task stands in.
local function lists(scope, context, state)
  return {
    key('list', scope),
    key('list-context', scope, context),
    key('list-state', scope, state),
    key('list-both', scope, state, context),
  }
end

local function put_up(place, scope, context, state)
  for _, list in ipairs(lists(scope, context, state)) do call('ZADD', list, 0, place) end
end

local function take_down(place, scope, context, state)
  for _, list in ipairs(lists(scope, context, state)) do call('ZREM', list, place) end
end

-- Whether a task's newest entry is this very one: then the same step comes again, since its first answer was lost on
-- the way.
local function is_newest(id, meta, payload)
  local newest = call('XREVRANGE', key('log', id), '+', '-', 'COUNT', 1)[1]
  return newest ~= nil and newest[2][2] == meta and newest[2][4] == payload
end

-- Sends are remembered in a hash by sender and message, and in order of the moment that they are forgotten at. The
-- field without a name counts their bytes.
local function recall(tenant, send, now)
  local record = call('HGET', key('sent', tenant), send)
  if not record or tonumber(call('ZSCORE', key('sent-until', tenant), send) or '0') <= tonumber(now) then
    return false
  end
  return record
end

local function forget(tenant, send)
  local sent = key('sent', tenant)
  local record = call('HGET', sent, send)
  call('ZREM', key('sent-until', tenant), send)
  if not record then return end
  call('HDEL', sent, send)
  if call('HINCRBY', sent, '', -#send - #record) <= 0 then call('HDEL', sent, '') end
end

local function remember(tenant, send, record, now, till, most, most_bytes)
  local sent, order = key('sent', tenant), key('sent-until', tenant)
  forget(tenant, send)
  call('HSET', sent, send, record)
  call('ZADD', order, till, send)
  local bytes = call('HINCRBY', sent, '', #send + #record)
  -- The newest is the last to go, and when it goes all have gone.
  for _, each in ipairs({sent, order}) do call('PEXPIRE', each, math.max(1, till - now)) end
  -- Each one that comes makes room for itself; more only after the bounds were lowered.
  for _ = 1, 16 do
    local oldest = call('ZRANGE', order, 0, 0, 'WITHSCORES')
    if not oldest[1] then return end
    local over = call('ZCARD', order) > tonumber(most) or bytes > tonumber(most_bytes)
    if not over and tonumber(oldest[2]) > tonumber(now) then return end
    forget(tenant, oldest[1])
    bytes = tonumber(call('HGET', sent, '') or '0')
  end
end

local function one_live_task_less(tenant)
  if call('HINCRBY', key('live'), tenant, -1) <= 0 then call('HDEL', key('live'), tenant) end
end

-- Work that is due: of a run its task alone, of a webhook its configuration too.
local function member_of(id, config)
  return id .. '\0' .. config
end

-- Grants of a task rise. Each ends with what only its replica draws: a failover may lose a grant and make the number anew.
local function grant(id, salt)
  return string.format('%.0f', call('HINCRBY', key('task', id), 'epoch', 1) * 1048576 + tonumber(salt))
end

-- Takes the oldest of a hash whose fields are numbers, from the place `from` on, where it has one more than so many.
local function bound(hash, most, from)
  if call('HLEN', hash) <= tonumber(most) then return end
  local numbers = call('HKEYS', hash)
  table.sort(numbers, function(one, other) return tonumber(one) < tonumber(other) end)
  call('HDEL', hash, numbers[from])
end

-- What is asked of a run. The first, which began the run, stays.
local function add_ask(id, asked, most)
  local number = call('HINCRBY', key('task', id), 'asked', 1)
  call('HSET', key('asks', id), number, asked)
  bound(key('asks', id), most, 2)
  return number
end

local function ask(id, asked, most)
  call('SPUBLISH', key('work'), 'a' .. id)
  return add_ask(id, asked, most)
end

-- The run of a task: its grant, who holds it, how often it was begun, how many holders lost it and whether the last one
-- gave it back instead stand in the task's hash.
local function begin_run(id, asked, holder, due, salt)
  local epoch = grant(id, salt)
  call('HSET', key('task', id), 'owner', epoch, 'holder', holder, 'attempt', 1)
  call('ZADD', key('due'), due, member_of(id, ''))
  return {tonumber(epoch), add_ask(id, asked, 1), holder}
end

local function end_run(id)
  call('HDEL', key('task', id), 'owner', 'holder', 'attempt', 'lost', 'handed', 'untold')
  call('ZREM', key('due'), member_of(id, ''))
  call('UNLINK', key('asks', id))
end

-- What came of a message that was put for a run, once more: its first answer was lost on the way.
local function granted_run(id)
  local f = call('HMGET', key('task', id), 'owner', 'holder', 'asked')
  if not f[1] then return {0, tonumber(f[3] or '0'), ''} end
  local begun = call('HLEN', key('asks', id)) == 1
  return {begun and tonumber(f[1]) or 0, tonumber(f[3]), f[2]}
end

-- Of a delivery there is kept its grant and the cursor up to which it came.
local function begin_delivery(id, config, cursor, due, salt)
  local epoch = grant(id, salt)
  call('HSET', key('delivered', id), config, epoch .. ' ' .. cursor)
  call('ZADD', key('due'), due, member_of(id, config))
  return tonumber(epoch)
end

local function granted_delivery(id, config)
  local delivered = call('HGET', key('delivered', id), config)
  return delivered and tonumber(string.match(delivered, '^%d+')) or 0
end

local function end_delivery(id, config)
  call('HDEL', key('delivered', id), config)
  call('ZREM', key('due'), member_of(id, config))
end

local function is_held(id, config, epoch)
  if config == '' then return call('HGET', key('task', id), 'owner') == epoch end
  local delivered = call('HGET', key('delivered', id), config)
  return delivered and string.match(delivered, '^%d+') == epoch
end

-- A configuration is stored behind its row.
local function row_of(id, config, stored)
  local row = string.sub(stored, 1, string.find(stored, '\0', 1, true) - 1)
  return row .. '\0' .. id .. '\0' .. config
end

local function drop_config(id, config)
  local stored = call('HGET', key('hooks', id), config)
  if not stored then return 0 end
  call('ZREM', key('rows'), row_of(id, config, stored))
  end_delivery(id, config)
  return call('HDEL', key('hooks', id), config)
end

local function has_room(id, config, most)
  local hooks = key('hooks', id)
  return call('HEXISTS', hooks, config) == 1 or call('HLEN', hooks) < tonumber(most)
end

-- With delivery from a cursor on, where that is to be held until a moment. Answers with its grant.
local function put_config(id, config, stored, cursor, due, salt)
  drop_config(id, config)
  call('HSET', key('hooks', id), config, stored)
  call('ZADD', key('rows'), 0, row_of(id, config, stored))
  return due ~= '' and begin_delivery(id, config, cursor, due, salt) or 0
end

-- Takes a task away with every trace of it.
local function remove(id)
  local task = key('task', id)
  local f = call('HMGET', task, 'place', 'hidden', 'ended', 'scope', 'context', 'state', 'tenant')
  local place, hidden, ended, scope, context, state, tenant = unpack(f)
  -- Only where a server was let drop keys by itself: then nothing says where else the task stood.
  if not place then return call('ZREM', key('ended'), id) end
  if hidden == '0' then take_down(place, scope, context, state) end
  if ended == '1' then
    call('ZREM', key('ended'), id)
    call('ZREM', key('done', tenant), place)
  else
    one_live_task_less(tenant)
  end
  for _, config in ipairs(call('HKEYS', key('hooks', id))) do drop_config(id, config) end
  call('ZREM', key('due'), member_of(id, ''))
  call('ZREM', key('tasks'), id)
  call('UNLINK', task, key('client', id), key('agent', id), key('parts', id), key('log', id), key('hooks', id),
    key('asks', id), key('answers', id), key('delivered', id))
  call('SPUBLISH', key('news', id), '')
end

local function last(list, most)
  if most == 0 then return {} end
  return call('LRANGE', list, most < 0 and 0 or -most, -1)
end

-- A task as it stands, with so many of each side's latest messages (-1: all).
local function show(id, messages, artifacts)
  local f = call('HMGET', key('task', id), 'head', 'said', 'metadata')
  if not f[1] then return false end
  local parts = {}
  if artifacts then parts = call('HGETALL', key('parts', id)) end
  return {f[1], f[2], f[3] or '', last(key('client', id), messages), last(key('agent', id), messages), parts}
end

-- Of a list how many stand in it from a place on, and the newest of them before another place: at most so many and one
-- more, which tells that others follow.
local function page_of(list, from, before, most)
  local places = call('ZRANGE', list, before, from, 'BYLEX', 'REV', 'LIMIT', 0, most + 1)
  local total = from == '-' and call('ZCARD', list) or call('ZLEXCOUNT', list, from, '+')
  return total, places
end
