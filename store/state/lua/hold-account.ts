/** A lease on an account: taken, or held for longer. */
import { script } from "./script.ts";

export const holdAccount = script(
  1,
  `-- KEYS: lease of the account
-- ARGV: token of this use; ms until it runs out
-- Output: 1 when it is held by this use, 0 when by another
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`,
);
