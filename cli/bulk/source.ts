/** Where a list comes from: a subscription's address, a file, a folder of configuration files, or stdin. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { engineOptionsOf, loadConfig } from "../../config.ts";
import { BodyError } from "../../engine/subscription/body-error.ts";
import { FetchError, fetchBody } from "../../engine/subscription/fetch.ts";
import { CLIENT_NAMES } from "../../engine/subscription/provider.ts";
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

/** Providers choose the format by the client's name: the first under which a config comes back. */
async function fetchList(url: string, breathe: () => Promise<void>): Promise<BulkList> {
  const transport = createTransport(engineOptionsOf(loadConfig()));
  let reason: string | undefined;
  for (const agent of CLIENT_NAMES) {
    try {
      const fetched = await fetchBody(transport, { url, agent, etag: null });
      const list = fetched.kind === "body" ? await readList(fetched.text, breathe) : undefined;
      if (list !== undefined && list.items.length > 0) return list;
      reason ??= nothingIn(list);
    } catch (error) {
      if (!(error instanceof FetchError || error instanceof BodyError)) throw error;
      reason ??= error.message;
      if (error instanceof FetchError && !error.hasAnswered) break;
    }
  }
  throw new CommandError(`the subscription cannot be had: ${reason ?? "The list is empty."}`);
}

function nothingIn(list: BulkList | undefined): string {
  const [bad] = list?.bad ?? [];
  const [message] = list?.messages ?? [];
  if (bad !== undefined) return `No entry of the list can be read (entry ${bad.at}: ${bad.reason}).`;
  return message === undefined ? "The list is empty." : `The list has no servers; the provider says: ${message}`;
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
