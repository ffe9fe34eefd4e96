-- Takes finished tasks away that ended before a moment, at most so many, and counts what the bucket then holds.
local before, most = unpack(ARGV)
local over = call('ZRANGE', key('ended'), '-inf', before, 'BYSCORE', 'LIMIT', 0, most)
for _, id in ipairs(over) do remove(id) end
local live = 0
for _, count in ipairs(call('HVALS', key('live'))) do live = live + tonumber(count) end
return {#over, live, call('ZCARD', key('ended'))}
