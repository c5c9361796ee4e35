/** Where a list comes from: a subscription's address, a file, a folder of configuration files, or stdin. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { engineOptionsOf, loadConfig } from "../../config.ts";
import { BodyError } from "../../engine/subscription/body-error.ts";
import { askByName, ProviderError, whyNothing } from "../../engine/subscription/provider.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { readStdin, readTextFile } from "../check/stdin.ts";
import { protocolOfFile, targetOf } from "../check/target.ts";
import { wholeProfile } from "../check/whole-profile.ts";
import { CommandError, usageError } from "../command.ts";
import { type BulkList, collect, idOf, LARGEST_BYTES, type Read, readList } from "./list.ts";

/** Of one configuration file in a folder, bytes. */
const LARGEST_FILE_BYTES = 1024 * 1024;
const TOO_LARGE = new CommandError("The list is larger than 64 MiB.");
const CONFIG_FILE = /\.(?:conf|ovpn)$/i;

/** @throws CommandError when there is no list */
export async function readListFrom(word: string, breathe: () => Promise<void>): Promise<BulkList> {
  try {
    if (/^https?:\/\//i.test(word)) return await fetchList(word, breathe);
    if (word === "-") return await readList(await readStdin(LARGEST_BYTES, TOO_LARGE), breathe);
    const state = statSync(word, { throwIfNoEntry: false });
    if (state === undefined) throw usageError(`there is no file ${word}`);
    if (state.isDirectory()) return await collect(filesOf(word), breathe);
    if (state.size > LARGEST_BYTES) throw TOO_LARGE;
    return await readList(readTextFile(word), breathe);
  } catch (error) {
    if (error instanceof BodyError) throw new CommandError(error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw usageError(`cannot read ${word} (${code})`);
    throw error;
  }
}

async function fetchList(url: string, breathe: () => Promise<void>): Promise<BulkList> {
  const transport = createTransport(engineOptionsOf(loadConfig()));
  try {
    const answer = await askByName(transport, { url, known: null }, async (text) => {
      const list = await readList(text, breathe);
      return list.items.length > 0 ? list : whyNothing(list.bad, list.messages[0] ?? null);
    });
    if (answer.kind === "list") return answer.list;
    throw new ProviderError("The provider says that nothing has changed, unasked.");
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new CommandError(`the subscription cannot be had: ${error.message}`);
  }
}

function* filesOf(folder: string): Generator<Read> {
  for (const file of readdirSync(folder)
    .filter((name) => CONFIG_FILE.test(name))
    .sort())
    yield readFile(folder, file);
}

function readFile(folder: string, file: string): Read {
  const path = join(folder, file);
  try {
    if (statSync(path).size > LARGEST_FILE_BYTES) return { bad: { at: file, reason: "larger than 1 MiB" } };
    const text = wholeProfile(readTextFile(path), path);
    if (protocolOfFile(text) === undefined)
      return { bad: { at: file, reason: "no VPN configuration that is known here" } };
    const { kind, settings, place } = targetOf(text, null, {});
    return { item: { at: file, id: idOf(kind, settings), kind, place, name: file.replace(CONFIG_FILE, ""), settings } };
  } catch (error) {
    return { bad: { at: file, reason: error instanceof Error ? error.message : String(error) } };
  }
}
