/** Every text of the page. A `{name}` stands for a value; `n` chooses between `one` and `other`. */
import { keeping } from "./en/keeping.ts";
import { moving } from "./en/moving.ts";
import { setting } from "./en/setting.ts";
import { telling } from "./en/telling.ts";
import { using } from "./en/using.ts";
import { watching } from "./en/watching.ts";

export const en = { ...watching, ...setting, ...telling, ...keeping, ...moving, ...using } as const;
