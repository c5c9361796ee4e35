/** The process that looks into answers with users' expressions (judge-process.ts). */
import { serveBounded } from "../bounded/bounded-child.ts";
import type { TextWord } from "./judge-process.ts";
import { judgeText } from "./judge-text.ts";

serveBounded(({ rules, text }: TextWord) => judgeText(rules, text));
