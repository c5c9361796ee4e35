/**
 * `fm`, xray's masks as JSON. 3x-ui exports there what the link says in fields of its own as well (`obfs`, `mport`): that much is read, into those
 * fields. Other masks are refused, because without them it would be another link.
 */

import { isFields } from "../../../model/plain-values.ts";
import { type Ignore, type Parameters, paramOf, refuse } from "./field.ts";

type Said = "obfs" | "obfspassword" | "mport" | "hopinterval";
const FIELD_NAMES: Readonly<Record<Said, string>> = {
  obfs: "obfs",
  obfspassword: "obfs-password",
  mport: "mport",
  hopinterval: "hop-interval",
};

/** @returns the parameters with what `fm` says in the fields that are empty. @throws TunnelConfigError */
export function withMasks(parameters: Parameters, isHysteria: boolean, ignore: Ignore): Parameters {
  const text = paramOf(parameters, "fm");
  if (text === "") return parameters;
  const said = new Map<Said, string>();
  const { udp, quicParams, ...others } = objectOf(jsonOf(text), "fm");
  requireNothing(others);
  readMasks(udp, said);
  readQuic(quicParams, said, ignore);
  if (said.size > 0 && !isHysteria) throw refuse("fm", "has masks that only hysteria2 can have here");
  for (const [name, value] of said) {
    const own = paramOf(parameters, name);
    if (own !== "" && own !== value) throw refuse("fm", `says something else than ${FIELD_NAMES[name]}`);
    if (own === "" && name === "mport") throw refuse("fm", "names ports to hop between that mport does not");
  }
  return said.size === 0 ? parameters : new Map([...parameters, ...said]);
}

/** One salamander, or nothing. */
function readMasks(value: unknown, said: Map<Said, string>): void {
  const masks = value ?? [];
  if (!Array.isArray(masks) || masks.length > 1) throw unsupported();
  if (masks.length === 0) return;
  const { type, settings, ...others } = objectOf(masks[0], "fm.udp");
  requireNothing(others);
  const { password, ...more } = objectOf(settings ?? {}, "fm.udp.settings");
  requireNothing(more);
  if (type !== "salamander") throw unsupported();
  said.set("obfs", type);
  if (typeof password === "string" && password !== "") said.set("obfspassword", password);
}

/** All but the ports decides how fast QUIC is, not whether it works. */
function readQuic(value: unknown, said: Map<Said, string>, ignore: Ignore): void {
  const { udpHop, ...others } = objectOf(value ?? {}, "fm.quicParams");
  if (Object.keys(others).length > 0) ignore("quicParams of fm", "other than udpHop are left out");
  if (udpHop === undefined) return;
  const { ports, interval, ...more } = objectOf(udpHop, "fm.quicParams.udpHop");
  requireNothing(more);
  if (typeof ports === "string" && ports !== "") said.set("mport", ports);
  if (typeof interval === "string" || typeof interval === "number") said.set("hopinterval", String(interval));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse("fm", "is not JSON");
  }
}

function objectOf(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (!isFields(value)) throw refuse(field, "must be a JSON object");
  return value;
}

/** Empty members say nothing. */
function requireNothing(others: Readonly<Record<string, unknown>>): void {
  const isEmpty = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);
  if (!Object.values(others).every(isEmpty)) throw unsupported();
}

function unsupported() {
  return refuse("fm", "has masks other than salamander and port hopping, which are not supported");
}
