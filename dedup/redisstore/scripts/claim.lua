-- ARGV: 3 holder, 4 fingerprint, 5 token style, 6 lease, 7 keep, 8 rest,
-- 9 the prior where there was no record, 10 TTL, 11 max age, 12 keep open,
-- 13 the least gain of life that is worth a write.
local holder, fingerprint, style = ARGV[3], ARGV[4], ARGV[5]
local lease, kept, rest, nothing = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8], ARGV[9]
local ttl, age, open, gain = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])

-- The form of recordjson's Prior.
local function prior(rec)
	if rec.version == '' then
		return nothing
	end
	local numbers = {}
	for i = 1, head do
		numbers[i] = rec[names[i]] == '' and '0' or rec[names[i]]
	end
	local trail = rec.trail == '' and 'null' or rec.trail
	return '{"head":[' .. table.concat(numbers, ',') .. '],"suffix":"' .. rec.suffix ..
		'","trail":' .. trail .. ',"rest":' .. rec.rest .. '}'
end

local function suffix(episode)
	if style == 'time' then
		return '.' .. text(math.floor(now / 1000000))
	elseif style == 'episode' and episode > 1 then
		return '.' .. text(episode)
	end
	return ''
end

local function take(rec)
	local episode = number(rec.episode) + 1
	local kept_until = text(math.max(number(rec.keep_until), now + kept))
	return {
		v = ARGV[2], version = text(number(rec.version) + 1), episode = text(episode), sends = '1',
		lease_until = text(now + lease), claimed_at = text(now), sent_at = text(now), seen_at = text(now),
		keep_until = kept_until, free_at = kept_until,
		state = 'claimed', holder = holder, fingerprint = fingerprint, suffix = suffix(episode),
		rest = rest, trail = rec.trail == '' and 'null' or rec.trail,
		prior = prior(rec), prior_body = rec.body,
	}
end

-- The end of the longer life; nil when it is not worth a write.
local function longer(rec)
	if rec.state ~= 'open' or number(rec.update_until) > now or rec.fingerprint == '' or rec.fingerprint ~= fingerprint then
		return nil
	end
	local ends = now + ttl
	if age > 0 then
		ends = math.min(ends, number(rec.opened_at) + age)
	end
	return ends - number(rec.expires_at) >= gain and ends or nil
end

-- A re-fire is answered from the record also where Redis, being full or
-- unable to write to its disk, cannot note the longer life. Every other
-- refusal says that this server may not be the master: then what it has may
-- be old, and is not answered.
local function extend(rec, ends)
	local next = {
		version = text(number(rec.version) + 1), expires_at = text(ends), free_at = text(ends), seen_at = text(now),
		keep_until = text(math.max(number(rec.keep_until), ends + open)),
	}
	local set = {}
	for name, value in pairs(next) do
		set[#set + 1] = name
		set[#set + 1] = value
	end
	local result = redis.pcall('HSET', key, unpack(set))
	local refused = type(result) == 'table' and result.err
	if refused and (string.find(refused, 'OOM ', 1, true) or string.find(refused, 'MISCONF ', 1, true)) then
		return reply(0, rec)
	elseif refused then
		return redis.error_reply(refused)
	end
	for name, value in pairs(next) do
		rec[name] = value
	end
	keep(number(rec.keep_until))
	return reply(0, rec)
end

local rec = load()
if number(rec.v) > format then
	return reply(0, rec)
end
if rec.state == 'claimed' and rec.holder == holder and number(rec.lease_until) > now then
	return reply(1, rec)
end
if number(rec.free_at) <= now then
	local taken = take(rec)
	save(taken)
	return reply(1, taken)
end
local ends = longer(rec)
if ends then
	return extend(rec, ends)
end
return reply(0, rec)
