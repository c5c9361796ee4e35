/** Bounds what a location's checkers, or other holders of their password, can keep in Redis. */
import { script } from "./script.ts";

/** Takes any number of keys: the first one is the hash of reports, then streams. */
export function sweepLocation(keyCount: number) {
  return script(
    keyCount,
    `-- KEYS: hash of reports; streams of runs; further streams
-- ARGV: bytes that the hash may have; bytes that a stream may have, and all keys together; how many streams of runs there are; the group
-- that those have
-- Output: the keys that were removed
-- MEMORY USAGE counts entries and consumers, but not the names of groups: streams of runs may have the one group, and no checker may give another stream one.
local removed = {}
local left = {}
local total = 0
for at, key in ipairs(KEYS) do
  local most = tonumber(at == 1 and ARGV[1] or ARGV[2])
  local used = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')
  local isForeign = false
  if used and at > 1 and at <= 1 + tonumber(ARGV[4]) then
    local info = redis.pcall('XINFO', 'STREAM', key)
    local groups = 0
    for i = 1, #info, 2 do
      if info[i] == 'groups' then groups = info[i + 1] end
    end
    isForeign = groups ~= 1 or redis.pcall('XINFO', 'CONSUMERS', key, ARGV[5]).err ~= nil
  end
  if used and (used > most or isForeign) then
    redis.call('UNLINK', key)
    removed[#removed + 1] = key
  elseif used then
    left[#left + 1] = {used, key}
    total = total + used
  end
end
if total > tonumber(ARGV[3]) then
  table.sort(left, function(a, b) return a[1] > b[1] end)
  for _, one in ipairs(left) do
    if total <= tonumber(ARGV[3]) then break end
    redis.call('UNLINK', one[2])
    removed[#removed + 1] = one[2]
    total = total - one[1]
  end
end
return removed
`,
  );
}
