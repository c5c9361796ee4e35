/** One from a sliding window. */
import { script } from "./script.ts";

export const takeSliding = script(
  1,
  `-- KEYS: sorted set of what was taken, by time
-- ARGV: limit; length of the window, ms; now, Unix ms; name of this take
-- Output: { 1 when taken, 0 when refused; the times of what the window holds then, oldest first, Unix ms, as text }
local now = tonumber(ARGV[3])
local window = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - window))
local taken = 0
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  taken = 1
end
local held = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local answer = { taken }
for i = 2, #held, 2 do
  answer[#answer + 1] = held[i]
end
return answer
`,
);
