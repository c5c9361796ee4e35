/** Which field of a form is spoken of when the form is refused. Pure. */

/** What the page itself says of a field before anything is sent. */
export class FieldError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

export interface Fault {
  /** The API's name of the field; null: the message speaks of none of the form's. */
  readonly field: string | null;
  readonly message: string;
  /** The operator of the service may open the address. */
  readonly isClosedAddress: boolean;
}

/** Where a form says what is watched, in the order in which it is looked for. */
const TARGETS = ["url", "host", "domain"];
const TARGET = / cannot be monitored| is refused: /;
/** No setting opens such an address. */
const DOCUMENTATION = "reserved for documentation";

/**
 * What a form is sent within: it is no part of the names of the form's fields. A list of rules is sent whole, whichever of them a form is about.
 */
const AROUND = /^(?:(?:settings|schedule|links|access|match|let_through|rules\.\d+|quiet_hours\.\d+)\.)+/;

/** @param names the API's names of the fields that the form shows; of what is repeated with its place, as `groups.0.title` */
export function faultOf(message: string, names: readonly string[]): Fault {
  const isTarget = TARGET.test(message);
  const field = isTarget ? TARGETS.find((name) => names.includes(name)) : firstNamed(message, names);
  return { field: field ?? null, message, isClosedAddress: isTarget && !message.includes(DOCUMENTATION) };
}

/** A name counts as a word of its own: `port` does not stand in `www.port.org` or `smtp_port`. What begins a message, or has something around it, is a path. */
function firstNamed(message: string, names: readonly string[]): string | undefined {
  for (const { 0: written, index } of message.toLowerCase().matchAll(/[\w.[\]-]+/g)) {
    const word = written.replace(/\[(\d+)\]/g, ".$1").replace(/\.$/, "");
    const path = word.replace(AROUND, "");
    const isPath = index === 0 || path !== word;
    const name = names.find((one) => {
      const lower = one.toLowerCase();
      return path === lower || (isPath && path.startsWith(`${lower}.`));
    });
    if (name !== undefined) return name;
  }
  return undefined;
}
