/**
 * The document as it is published. It is made when Sonde is built (scripts/bundle.mjs), because making it keeps a thread that has other callers for half a
 * second; where the sources are run as they are, it is made at the first request.
 */
import { readFile } from "node:fs/promises";
import type { DocumentOptions } from "../openapi.ts";
import type { Route } from "../route.ts";

/** What stands in the built document where a service has its own. */
export const PLACES: DocumentOptions = {
  baseUrl: "place:base-url",
  docsUrl: "place:docs-url",
  version: "place:version",
};

const FILES = { json: "./openapi.json", yaml: "./openapi.yaml" } as const;
export type Form = keyof typeof FILES;

/** @param options asked for when the document is: an address may be known only then. Rejects when the built file is there and cannot be read */
export function publishedDocument(routes: readonly Route[], options: () => DocumentOptions) {
  const text = async (form: Form): Promise<string> => {
    const built = await readBuilt(form);
    if (built !== null) return filled(built, form, options());
    const { documentText } = await import("../openapi.ts");
    return documentText(routes, options)[form]();
  };
  return { json: () => text("json"), yaml: () => text("yaml") };
}

/** @returns null where nothing was built */
async function readBuilt(form: Form): Promise<string | null> {
  try {
    return await readFile(new URL(FILES[form], import.meta.url), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** @param built with PLACES @returns the document of a service. A JSON string is a YAML scalar, too */
export function filled(built: string, form: Form, options: DocumentOptions): string {
  let text = built;
  for (const name of ["baseUrl", "docsUrl", "version"] as const) {
    const place = form === "json" ? JSON.stringify(PLACES[name]) : PLACES[name];
    text = text.replaceAll(place, () => JSON.stringify(options[name]));
  }
  return text;
}
