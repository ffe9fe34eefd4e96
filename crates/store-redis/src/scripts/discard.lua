-- Takes a task away that no client has seen, and the send that made it; with an answer, that is remembered with the send.
local id, answer = unpack(ARGV)
local hidden, tenant, send = unpack(call('HMGET', key('task', id), 'hidden', 'tenant', 'send'))
if hidden ~= '1' then return 0 end
if send and not answer then forget(tenant, send) end
local sent = key('sent', tenant)
if send and answer and call('HEXISTS', sent, send) == 1 then
  call('HSET', sent, send, call('HGET', sent, send) .. answer)
  call('HINCRBY', sent, '', #answer)
end
remove(id)
return 1
