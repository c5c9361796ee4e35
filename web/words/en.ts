/** Every text of the page. A `{name}` stands for a value; `n` chooses between `one` and `other`. */
import { keeping } from "./en/keeping.ts";
import { moving } from "./en/moving.ts";
import { refusing } from "./en/refusing.ts";
import { schema } from "./en/schema.ts";
import { setting } from "./en/setting.ts";
import { taking } from "./en/taking.ts";
import { telling } from "./en/telling.ts";
import { using } from "./en/using.ts";
import { watching } from "./en/watching.ts";

export const en = {
  ...watching,
  ...setting,
  ...telling,
  ...keeping,
  ...moving,
  ...refusing,
  ...schema,
  ...taking,
  ...using,
} as const;
