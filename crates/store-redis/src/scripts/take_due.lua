-- Takes what is due, at most so much, the longest due first.
local now, due, most, holder, salt = unpack(ARGV)
local taken = {}
for _, member in ipairs(call('ZRANGE', key('due'), '-inf', now, 'BYSCORE', 'LIMIT', 0, most)) do
  local at = string.find(member, '\0', 1, true)
  local id, config = string.sub(member, 1, at - 1), string.sub(member, at + 1)
  local task, delivered = key('task', id), call('HGET', key('delivered', id), config)
  if call('HEXISTS', task, 'rev') == 0 then
    -- Only where a server was let drop keys by itself.
    call('ZREM', key('due'), member)
  elseif config == '' then
    local epoch = grant(id, salt)
    call('ZADD', key('due'), due, member)
    call('HSET', task, 'owner', epoch, 'holder', holder)
    local attempt = call('HINCRBY', task, 'attempt', 1)
    -- Whoever gave it back lost nothing, nor did a holder who never heard that it was his.
    local excused = call('HDEL', task, 'handed', 'untold') > 0
    local lost = call('HINCRBY', task, 'lost', excused and 0 or 1)
    call('HSET', task, 'untold', 1)
    local asked = call('HGET', task, 'asked')
    taken[#taken + 1] = {id, config, epoch, attempt, lost, asked, '', call('HGETALL', key('asks', id))}
  elseif delivered then
    local epoch, cursor = grant(id, salt), string.match(delivered, '%S+$')
    call('ZADD', key('due'), due, member)
    call('HSET', key('delivered', id), config, epoch .. ' ' .. cursor)
    taken[#taken + 1] = {id, config, epoch, 0, 0, 0, cursor, {}}
  end
end
return taken
