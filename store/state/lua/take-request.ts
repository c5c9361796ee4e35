/** One request against three windows at once. */
import { script } from "./script.ts";

export const takeRequest = script(
  3,
  `-- KEYS: counters of the current minute, day and month
-- ARGV 1-3: their limits, -1 is none
-- ARGV 4-6: ms until each may be forgotten
-- Output: { the window that refuses, 1 to 3, or 0; requests in the minute }
-- A refused request is not counted.
local counts = {}
for i = 1, 3 do
  counts[i] = tonumber(redis.call('GET', KEYS[i]) or '0')
end
for i = 1, 3 do
  local limit = tonumber(ARGV[i])
  if limit >= 0 and counts[i] >= limit then
    return { i, counts[1] }
  end
end
for i = 1, 3 do
  if redis.call('INCR', KEYS[i]) == 1 then
    redis.call('PEXPIRE', KEYS[i], ARGV[i + 3])
  end
end
return { 0, counts[1] + 1 }
`,
);
