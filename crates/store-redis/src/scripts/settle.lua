-- Removes work that is done, unless more was asked of the run than its holder has seen.
local id, config, epoch, seen = unpack(ARGV)
if not is_held(id, config, epoch) then return 'LOST' end
if config ~= '' then
  end_delivery(id, config)
elseif tonumber(call('HGET', key('task', id), 'asked') or '0') > tonumber(seen) then
  return 'MORE'
else
  end_run(id)
end
return 'OK'
