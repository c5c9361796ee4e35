/** What stands between Shadowsocks and the network (SIP003), and what Shadowrocket and older clients write in its place. */

import { isFields } from "../../../model/plain-values.ts";
import { type Ignore, lineOf, numberOf, oneOf, type Parameters, paramOf, pathOf, refuse, sentNameOf } from "./field.ts";
import { base64Text, type ShareLink } from "./link.ts";
import type { Plugin } from "./proxy-config.ts";

const SIMPLE_OBFS: ReadonlySet<string> = new Set(["obfs-local", "simple-obfs", "obfs"]);
/** Of Shadowrocket, each a value of its own: read over, the link would be one without them. */
const OTHER_LAYERS = [
  ["shadowtls", "shadow-tls"],
  ["gost", "gost"],
] as const;

/** Of a Shadowsocks link. @throws TunnelConfigError */
export function pluginOf({ host, port }: ShareLink, parameters: Parameters, ignore: Ignore): Plugin | null {
  const text = paramOf(parameters, "plugin");
  const json = paramOf(parameters, "v2rayplugin");
  for (const [key, name] of OTHER_LAYERS) {
    if (parameters.has(key)) throw refuse(name, "is a layer that no core here has beneath Shadowsocks");
  }
  if (text !== "" && json !== "") throw refuse("v2ray-plugin", "stands beside a plugin: only one of them can be meant");
  if (json !== "") {
    const values = membersOf(json);
    const isElsewhere =
      (values.get("address") ?? host) !== host || (values.get("port") ?? String(port)) !== String(port);
    if (isElsewhere) throw refuse("v2ray-plugin", "names another server than the link");
    return v2rayPluginOf(values, ignore);
  }
  if (text === "") return null;
  const { name, values } = splitPlugin(text);
  if (SIMPLE_OBFS.has(name)) {
    const mode = oneOf(values.get("obfs") ?? values.get("mode") ?? "http", ["http", "tls"], "plugin's obfs");
    const sent = values.get("obfs-host") ?? values.get("host") ?? "";
    return { name: "obfs-local", mode, host: sentNameOf(sent, "obfs-host", ignore) };
  }
  if (name === "v2ray-plugin" || name === "xray-plugin") return v2rayPluginOf(values, ignore);
  throw refuse("plugin", "must be obfs-local or v2ray-plugin: others would be programs to run");
}

/** Trojan inside WebSocket, as Shadowrocket writes it; undefined without a plugin. @throws TunnelConfigError */
export function trojanCarrierOf(parameters: Parameters): ReadonlyMap<"type" | "host" | "path", string> | undefined {
  const text = paramOf(parameters, "plugin");
  if (text === "") return undefined;
  const { name, values } = splitPlugin(text);
  const mode = values.get("obfs") ?? values.get("mode");
  if (!SIMPLE_OBFS.has(name) || (mode !== "websocket" && mode !== "ws")) {
    throw refuse("plugin", "must be obfs-local with obfs=websocket for Trojan");
  }
  return new Map([
    ["type", "ws"],
    ["host", values.get("obfs-host") ?? ""],
    ["path", values.get("obfs-uri") ?? ""],
  ]);
}

/** `name;key=value;flag`, `\` before a mark that is meant. */
function splitPlugin(text: string): { readonly name: string; readonly values: ReadonlyMap<string, string> } {
  const [name = "", ...options] = pluginOptions(lineOf(text, "plugin"));
  return { name, values: new Map(options.map((option) => optionOf(option))) };
}

/** The pieces between the `;` that no `\` makes a letter. */
function pluginOptions(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === ";") {
      pieces.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...pieces, text.slice(from)];
}

/** A key up to its `=` that no `\` makes a letter; a `\` may itself be made one. */
const KEY_AND_VALUE = /^((?:\\.|[^\\=])*)(?:=(.*))?$/s;

function optionOf(option: string): readonly [string, string] {
  const [, key = "", value = ""] = KEY_AND_VALUE.exec(option) ?? [];
  return [key.trim(), value.replace(/\\(.)/g, "$1")];
}

/** Shadowrocket's `v2ray-plugin`: base64 of a JSON object; its members as texts, empty ones left out. */
function membersOf(text: string): ReadonlyMap<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(base64Text(text) ?? "");
  } catch {
    throw refuse("v2ray-plugin", "is no JSON in base64");
  }
  if (!isFields(value)) throw refuse("v2ray-plugin", "must be a JSON object");
  const values = new Map<string, string>();
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === "boolean") values.set(key, member ? "1" : "0");
    else if (typeof member === "number") values.set(key, String(member));
    else if (typeof member === "string" && member !== "") values.set(key, member);
  }
  return values;
}

function v2rayPluginOf(values: ReadonlyMap<string, string>, ignore: Ignore): Plugin {
  const mux = values.get("mux");
  return {
    name: "v2ray-plugin",
    mode: oneOf(values.get("mode") ?? "websocket", ["websocket", "quic"], "plugin's mode"),
    hasTls: values.has("tls") && !["false", "0"].includes(values.get("tls") ?? ""),
    host: sentNameOf(values.get("host") ?? "", "plugin's host", ignore),
    path: pathOf(values.get("path") ?? "/", "plugin's path"),
    mux: mux === undefined ? 1 : numberOf(mux, "plugin's mux", 0, 1_024),
  };
}
