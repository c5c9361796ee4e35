/** A mailbox of outcomes, held by one scheduler. */
import { script } from "./script.ts";

export const holdMailbox = script(
  1,
  `-- KEYS: the mailbox's holder
-- ARGV: scheduler; ms until it is free again unless it is held on
-- Output: 2 when it was free and is ours now, 1 when it was ours, 0 when another has it
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return holder and 1 or 2
`,
);
