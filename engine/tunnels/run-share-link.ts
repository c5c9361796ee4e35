/** What share links' checks run; loaded in probers only. */
export { checkShareLink as run } from "./share-link.ts";
