/** One from a fixed window. */
import { script } from "./script.ts";

export const takeFrom = script(
  1,
  `-- KEYS: counter of the current window
-- ARGV: limit; ms until the counter may be forgotten
-- Output: 1 when taken, 0 when refused
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
if count >= tonumber(ARGV[1]) then
  return 0
end
if redis.call('INCR', KEYS[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
`,
);
