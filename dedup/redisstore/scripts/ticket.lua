-- What the scripts on a ticket begin with: a hash of rule, scope and key (the
-- record that holds it), held_until and closed_until.
-- ARGV[1] offset of the clock. GRACE is filled in from Go.
local name, offset = KEYS[1], tonumber(ARGV[1])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2]) + offset

local function text(number) return string.format('%.0f', number) end

local was = redis.call('HMGET', name, 'rule', 'scope', 'key', 'held_until', 'closed_until')
local held, closed = tonumber(was[4] or 0), tonumber(was[5] or 0)

local function keep()
	local last = math.max(held, closed, now) - offset
	redis.call('PEXPIREAT', name, text(math.ceil(last / 1000) + GRACE))
end
