-- ARGV: 3 the version seen, then the values of names, the nonce being the last.
-- 1 = written, now or by an earlier try of the same call; 0 = conflict.
local rec = {}
for i, name in ipairs(names) do
	rec[name] = ARGV[i + 3]
end
local was = redis.call('HMGET', key, 'v', 'version', 'nonce')
local version = was[2] or '0'
if number(was[1]) > format then
	return 0
end
if version == ARGV[3] then
	save(rec)
	return 1
end
return rec.nonce ~= '' and was[3] == rec.nonce and version == rec.version and 1 or 0
