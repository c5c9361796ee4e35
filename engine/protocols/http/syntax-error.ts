/** Bytes that are not the protocol they should be; the message goes to people, in lower case and without a final dot. */
export class HttpSyntaxError extends Error {
  override readonly name = "HttpSyntaxError";
}
