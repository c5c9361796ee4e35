/** Persian. Loaded when it is chosen. */
import { keeping } from "./fa/keeping.ts";
import { moving } from "./fa/moving.ts";
import { refusing } from "./fa/refusing.ts";
import { schema } from "./fa/schema.ts";
import { setting } from "./fa/setting.ts";
import { taking } from "./fa/taking.ts";
import { telling } from "./fa/telling.ts";
import { using } from "./fa/using.ts";
import { watching } from "./fa/watching.ts";
import type { Words } from "./text.ts";

export const fa: Words = {
  ...watching,
  ...setting,
  ...telling,
  ...keeping,
  ...moving,
  ...refusing,
  ...schema,
  ...taking,
  ...using,
};
