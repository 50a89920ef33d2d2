-- What every script on a record begins with. Numbers are whole microseconds
-- or counts; a double holds them exactly until the year 2255.
-- ARGV[1] offset of the clock, ARGV[2] the format that this program writes.
-- NAMES, HEAD and GRACE are filled in from Go.
local key, offset, format = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local names, head = {NAMES}, HEAD

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2]) + offset

local function number(text) return tonumber(text) or 0 end

-- tostring would write 1.7e+15.
local function text(number) return string.format('%.0f', number) end

-- A field that is zero or empty is not stored; it is read as ''.
local function load()
	local values, rec = redis.call('HMGET', key, unpack(names)), {}
	for i, name in ipairs(names) do
		rec[name] = values[i] or ''
	end
	return rec
end

-- Kept a little longer than asked, so that who settles late finds his record.
local function keep(micros)
	if micros == 0 then
		redis.call('PERSIST', key)
	else
		redis.call('PEXPIREAT', key, text(math.ceil((math.max(micros, now) - offset) / 1000) + GRACE))
	end
end

-- Scripts are not rolled back. HSET is the only command here that Redis may
-- refuse (no memory, a replica), so it is the first one that writes.
local function save(rec)
	local set, unset = {}, {}
	for i, name in ipairs(names) do
		local value = rec[name] or ''
		if value == '' or (i <= head and value == '0') then
			unset[#unset + 1] = name
		else
			set[#set + 1] = name
			set[#set + 1] = value
		end
	end
	redis.call('HSET', key, unpack(set))
	if #unset > 0 then
		redis.call('HDEL', key, unpack(unset))
	end
	keep(number(rec.keep_until))
end

-- The nonce, which is the last name, stays here.
local function reply(won, rec)
	local answer = {won, text(now)}
	for i = 1, #names - 1 do
		answer[i + 2] = rec[names[i]] or ''
	end
	return answer
end
