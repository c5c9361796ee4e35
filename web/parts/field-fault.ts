/** Which field of a form the API speaks of when it refuses the form. Pure. */

export interface Fault {
  /** The API's name of the field; null: the message speaks of none of the form's. */
  readonly field: string | null;
  readonly message: string;
  /** The operator of the service may open the address. */
  readonly isClosedAddress: boolean;
}

/** Where a form says what is watched, in the order in which it is looked for. */
const TARGETS = ["url", "host", "domain"];
const TARGET = " cannot be monitored";
/** No setting opens such an address. */
const DOCUMENTATION = "reserved for documentation";

/** @param names the API's names of the fields that the form shows */
export function faultOf(message: string, names: readonly string[]): Fault {
  const isTarget = message.includes(TARGET);
  const field = isTarget ? TARGETS.find((name) => names.includes(name)) : firstNamed(message, names);
  return { field: field ?? null, message, isClosedAddress: isTarget && !message.includes(DOCUMENTATION) };
}

/** A name counts as a word of its own: `port` does not stand in `www.port.org` or `smtp_port`. */
function firstNamed(message: string, names: readonly string[]): string | undefined {
  for (const [word] of message.toLowerCase().matchAll(/[\w.-]+/g)) {
    const name = names.find((one) => word === one || word === `${one}.` || word === `settings.${one}`);
    if (name !== undefined) return name;
  }
  return undefined;
}
