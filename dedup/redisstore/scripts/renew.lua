-- ARGV: 3 holder, 4 lease. 1 = renewed.
local rec, lease_until = load(), text(now + tonumber(ARGV[4]))
if number(rec.v) > format then
	return 0
end
local set = {}
if rec.state == 'claimed' and rec.holder == ARGV[3] and number(rec.lease_until) > now then
	set = {'lease_until', lease_until}
end
if rec.update_holder == ARGV[3] and number(rec.update_until) > now then
	set[#set + 1] = 'update_until'
	set[#set + 1] = lease_until
end
if #set == 0 then
	return 0
end
redis.call('HSET', key, unpack(set))
return 1
