/** A wrong key came from an address: windows.ts, afterWrongKey, says what the number means. */
import { script } from "./script.ts";

export const wrongKey = script(
  1,
  `-- KEYS: when the address's bucket is full again, Unix ms
-- ARGV: now, Unix ms; ms of one refill; most that is taken from a bucket, ms
-- Output: the new time, Unix ms, as text
local now = tonumber(ARGV[1])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
full = math.min(full + tonumber(ARGV[2]), now + tonumber(ARGV[3]))
local text = string.format('%.0f', full)
redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', math.max(full - now, 1)))
return text
`,
);
