/** A property that must hold does not: a fault whatever a target's refusals are. */
export class Violation extends Error {
  override readonly name = "Violation";
}
