-- A page of a list, newest first, and the tasks on it, all of one moment. KEYS[2] is the list.
local list = KEYS[2]
local from, before, most, messages, artifacts = unpack(ARGV)
most = tonumber(most)
local places = call('ZRANGE', list, before, from, 'BYLEX', 'REV', 'LIMIT', 0, most + 1)
local total
if from == '-' then total = call('ZCARD', list) else total = call('ZLEXCOUNT', list, from, '+') end
local tasks = {}
for at = 1, math.min(most, #places) do
  tasks[at] = show(string.sub(places[at], PLACE_ID), tonumber(messages), artifacts == '1')
end
return {#places > most and 1 or 0, total, tasks}
