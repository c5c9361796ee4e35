/** The end of a lease on an account. */
import { script } from "./script.ts";

export const releaseAccount = script(
  1,
  `-- KEYS: lease of the account
-- ARGV: token of the use that ends
-- Output: 1 when it was held by this use, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
`,
);
