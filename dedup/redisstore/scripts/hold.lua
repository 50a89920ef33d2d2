-- ARGV: 2 rule, 3 scope, 4 key, 5 keep. 1 = a close of the ticket was kept; it
-- stays kept, so that the call can be repeated after a lost reply.
held = now + tonumber(ARGV[5])
redis.call('HSET', name, 'rule', ARGV[2], 'scope', ARGV[3], 'key', ARGV[4], 'held_until', text(held))
keep()
return closed > now and 1 or 0
