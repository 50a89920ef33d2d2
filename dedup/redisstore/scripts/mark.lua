-- ARGV: 3 holder.
local was = redis.call('HMGET', key, 'v', 'state', 'holder')
if number(was[1]) <= format and was[2] == 'claimed' and was[3] == ARGV[3] then
	redis.call('HSET', key, 'sent', '1')
end
return 1
