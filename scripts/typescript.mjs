// `node --import ./scripts/typescript.mjs file.ts`: runs our TypeScript without a build, in its threads too. Types are taken off, not checked.
import { register } from "node:module";

register("./typescript-hooks.mjs", import.meta.url);
