/** Conditions of Gatus on a value within the answer's JSON, as expressions of JSONata. Pure. */
import { numberIn } from "../values.ts";
import type { Condition } from "./condition.ts";

/** `[BODY].data[0].name`, `[BODY][0]`. */
const PATH = /^\[BODY\]((?:\.[A-Za-z_][\w-]{0,99}|\[\d{1,6}\]){0,30})$/;
const STEP = /\.([A-Za-z_][\w-]{0,99})|\[(\d{1,6})\]/g;

/** @returns an expression that is true when the condition holds; undefined when it cannot be said */
export function jsonExpression({ left, operator, right }: Condition): string | undefined {
  const has = /^has\((.{1,500})\)$/.exec(left)?.[1];
  if (has !== undefined) {
    const path = pathOf(has);
    const isWanted = (right === "true") === (operator === "==");
    const isSaid =
      path !== undefined && (right === "true" || right === "false") && (operator === "==" || operator === "!=");
    return isSaid ? (isWanted ? `$exists(${path})` : `$not($exists(${path}))`) : undefined;
  }
  const length = /^len\((.{1,500})\)$/.exec(left)?.[1];
  const path = pathOf(length ?? left);
  if (path === undefined) return undefined;
  const isLength = length !== undefined;
  const value = isLength ? `($type(${path}) = "array" ? $count(${path}) : $length($string(${path})))` : path;
  return operator === "==" || operator === "!=" ? equality(value, operator, right) : order(value, operator, right);
}

function equality(value: string, operator: "==" | "!=", right: string): string | undefined {
  const negated = (text: string) => (operator === "==" ? text : `$not(${text})`);
  const part = /^pat\(\*([^*?[\\]{1,255})\*\)$/.exec(right)?.[1];
  if (part !== undefined) return negated(`$contains($string(${value}), ${JSON.stringify(part)})`);
  const any = /^any\((.{0,500})\)$/.exec(right)?.[1];
  if (any !== undefined) {
    const options = any.split(",").map((one) => JSON.stringify(one.trim()));
    return negated(`$string(${value}) in [${options.join(", ")}]`);
  }
  if (/^pat\(/.test(right) || right.startsWith("[")) return undefined;
  return `$string(${value}) ${operator === "==" ? "=" : "!="} ${JSON.stringify(right)}`;
}

function order(value: string, operator: string, right: string): string | undefined {
  const number = numberIn(right);
  return number === undefined ? undefined : `$number(${value}) ${operator} ${number}`;
}

/** Names stand in backticks, so that none is a word of the language. */
function pathOf(side: string): string | undefined {
  const steps = PATH.exec(side)?.[1];
  if (steps === undefined || steps === "") return undefined;
  let path = "$";
  for (const [, name, index] of steps.matchAll(STEP)) path += name === undefined ? `[${index}]` : `.\`${name}\``;
  return path;
}
