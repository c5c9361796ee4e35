/** The reports of a location's checkers. Other fields of the hash are removed: the checkers' password can write any. */
import { script } from "./script.ts";

export const readReports = script(
  1,
  `-- KEYS: hash of reports
-- ARGV: characters that a report may have; then the names that there may be
-- Output: name, report, name, report …; last the number of fields that were removed
local found = {}
local kept = 0
local tooLong = 0
for i = 2, #ARGV do
  local length = redis.call('HSTRLEN', KEYS[1], ARGV[i])
  if length > tonumber(ARGV[1]) then
    redis.call('HDEL', KEYS[1], ARGV[i])
    tooLong = tooLong + 1
  elseif length > 0 then
    found[#found + 1] = ARGV[i]
    found[#found + 1] = redis.call('HGET', KEYS[1], ARGV[i])
    kept = kept + 1
  end
end
local others = redis.call('HLEN', KEYS[1]) - kept
if others > 0 then
  redis.call('UNLINK', KEYS[1])
  if kept > 0 then redis.call('HSET', KEYS[1], unpack(found)) end
end
found[#found + 1] = tostring(others + tooLong)
return found
`,
);
