/** Runs before each file of tests; hooks run in reverse, so this is the last one. */
import { afterAll } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.ts";

afterAll(removeTemporaryFolders);
