-- ARGV: 2 keep. The record that holds the ticket, or nothing: the close is kept.
if held > now then
	return {was[1], was[2], was[3]}
end
closed = now + tonumber(ARGV[2])
redis.call('HSET', name, 'closed_until', text(closed))
keep()
return {}
