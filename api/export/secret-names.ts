/** What stands for secrets in an exported document: variables of the environment, each of which has a name of its own. */
import { environmentPlaceholder, escapeText } from "../../model/document/placeholders.ts";
import { FreeNames } from "../../model/free-names.ts";
import { HIDDEN } from "../../model/web-address.ts";

export interface ExportedSecret {
  /** Of the variable. */
  readonly name: string;
  /** Where it stands in the document: names and places from its root. */
  readonly path: readonly (string | number)[];
}

export class SecretNames {
  readonly #secrets: ExportedSecret[] = [];
  readonly #names = new FreeNames();

  get list(): readonly ExportedSecret[] {
    return this.#secrets;
  }

  /** @param path from the section on; the key and the field make the name */
  placeholder(path: readonly (string | number)[]): string {
    const words = path.slice(1).map(String);
    const numbered = (count: number): string => environmentPlaceholder(...words, String(count));
    const text = this.#names.free(environmentPlaceholder(...words), numbered);
    this.#secrets.push({ name: text.slice("${env:".length, -1), path });
    return text;
  }

  /** Every text of it is a secret. */
  all(value: unknown, path: readonly (string | number)[]): unknown {
    return mapTexts(value, path, (_, at) => this.placeholder(at));
  }

  /** Those texts of it that are hidden are secrets; the others say what they say. */
  hidden(value: unknown, path: readonly (string | number)[]): unknown {
    return mapTexts(value, path, (text, at) => (text === HIDDEN ? this.placeholder(at) : escapeText(text)));
  }
}

/** Without secrets. */
export function escaped(value: unknown): unknown {
  return mapTexts(value, [], escapeText);
}

function mapTexts(
  value: unknown,
  path: readonly (string | number)[],
  change: (text: string, path: readonly (string | number)[]) => string,
): unknown {
  if (typeof value === "string") return change(value, path);
  if (Array.isArray(value)) return value.map((one, index) => mapTexts(one, [...path, index], change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapTexts(one, [...path, name], change)]));
}
