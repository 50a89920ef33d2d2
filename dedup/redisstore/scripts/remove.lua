-- ARGV: 3 the rest of a stub. 0 = of a newer format, and left alone.
local was = redis.call('HMGET', key, 'v', 'version', 'episode', 'keep_until', 'state', 'free_at')
if not was[2] then
	return 1
end
if number(was[1]) > format then
	return 0
end
if was[5] == 'none' and not was[6] then
	return 1 -- a stub already, so that the call can be repeated
end
save({
	v = ARGV[2], version = text(number(was[2]) + 1), episode = was[3], keep_until = was[4],
	state = 'none', rest = ARGV[3], trail = 'null',
})
return 1
