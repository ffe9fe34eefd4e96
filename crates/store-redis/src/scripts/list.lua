-- A page of a list, newest first, and the tasks on it, all of one moment. KEYS[2] is the list.
local from, before, most, messages, artifacts = unpack(ARGV)
most = tonumber(most)
local total, places = page_of(KEYS[2], from, before, most)
local tasks = {}
for at = 1, math.min(most, #places) do
  tasks[at] = show(string.sub(places[at], PLACE_ID), tonumber(messages), artifacts == '1')
end
return {#places > most and 1 or 0, total, tasks}
