/** One condition of Gatus: a placeholder, a sign and a value, whichever side each stands on. Pure. */

const OPERATORS = [" == ", " != ", " <= ", " >= ", " > ", " < "] as const;
export type Operator = "==" | "!=" | "<=" | ">=" | ">" | "<";
/** What the operator becomes when its sides are exchanged. */
const EXCHANGED: Readonly<Record<Operator, Operator>> = {
  "==": "==",
  "!=": "!=",
  "<=": ">=",
  ">=": "<=",
  ">": "<",
  "<": ">",
};
/** Of a condition, characters. */
const LONGEST = 2_048;

export interface Condition {
  readonly text: string;
  /** Has the placeholder. */
  readonly left: string;
  readonly operator: Operator;
  readonly right: string;
}

/** undefined for what is none. */
export function conditionIn(text: string): Condition | undefined {
  const sign = text.length > LONGEST ? undefined : OPERATORS.find((one) => text.includes(one));
  if (sign === undefined) return undefined;
  const operator = sign.trim() as Operator;
  const at = text.indexOf(sign);
  const [left, right] = [text.slice(0, at).trim(), text.slice(at + sign.length).trim()];
  return hasPlaceholder(left) || !hasPlaceholder(right)
    ? { text, left, operator, right }
    : { text, left: right, operator: EXCHANGED[operator], right: left };
}

function hasPlaceholder(side: string): boolean {
  return /^(?:len\(|has\()?\[[A-Z_]{1,40}\]/.test(side);
}
