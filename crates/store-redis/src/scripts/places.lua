-- What one bucket has of a page: how many tasks its list has on all pages, and the places of this one. KEYS[2] is the list.
local from, before, most = unpack(ARGV)
return {page_of(KEYS[2], from, before, tonumber(most))}
