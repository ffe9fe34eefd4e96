-- Lets leases run until a moment: triples of task, configuration and grant. Answers for each with the number of the
-- latest that was asked of the run, or -1 where the lease is lost.
local due = ARGV[1]
local renewed = {}
for at = 2, #ARGV, 3 do
  local id, config, epoch = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local asked = -1
  if is_held(id, config, epoch) then
    call('ZADD', key('due'), due, member_of(id, config))
    asked = 0
    if config == '' then
      call('HDEL', key('task', id), 'untold')
      asked = tonumber(call('HGET', key('task', id), 'asked') or '0')
    end
  end
  renewed[#renewed + 1] = asked
end
return renewed
