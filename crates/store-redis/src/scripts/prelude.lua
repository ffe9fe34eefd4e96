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

local function one_live_task_less(tenant)
  if call('HINCRBY', key('live'), tenant, -1) <= 0 then call('HDEL', key('live'), tenant) end
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
  return call('HDEL', key('hooks', id), config)
end

local function has_room(id, config, most)
  local hooks = key('hooks', id)
  return call('HEXISTS', hooks, config) == 1 or call('HLEN', hooks) < tonumber(most)
end

local function put_config(id, config, stored)
  drop_config(id, config)
  call('HSET', key('hooks', id), config, stored)
  call('ZADD', key('rows'), 0, row_of(id, config, stored))
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
  call('ZREM', key('tasks'), id)
  call('UNLINK', task, key('client', id), key('agent', id), key('parts', id), key('log', id), key('hooks', id))
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
