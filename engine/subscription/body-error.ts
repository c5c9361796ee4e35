/** A body that is no list at all; the message is for people. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** One entry that is none; the message is for people. */
export class EntryError extends Error {
  override readonly name = "EntryError";
}
