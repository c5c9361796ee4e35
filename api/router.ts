/** Finds the route of a path. A literal segment wins over a parameter: /servers/search over /servers/{id}. */
import type { Route } from "./route.ts";

const API_ROOT = "/api/v1";

interface Node {
  readonly literals: Map<string, Node>;
  parameter: Node | null;
  readonly methods: Map<string, Route>;
}

export type Found =
  | { readonly type: "route"; readonly route: Route; readonly params: readonly string[] }
  | { readonly type: "wrong-method"; readonly routes: readonly Route[] }
  | { readonly type: "unknown" };

const UNKNOWN: Found = { type: "unknown" };
const NO_PARAMS: readonly string[] = [];

export interface Router {
  /** @param method HEAD counts as GET */
  find(method: string, path: string): Found;
}

/** How long a browser may keep the answer to OPTIONS, seconds. */
export const PREFLIGHT_S = "86400";

/** What `Allow` says: GET answers HEAD too, and what is public to pages of other origins OPTIONS. */
export function allowedMethods(methods: readonly string[], cors: boolean): string {
  const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return (cors ? [...allowed, "OPTIONS"] : allowed).join(", ");
}

export function fullPath(route: Route): string {
  return route.atRoot === true ? route.path : API_ROOT + route.path;
}

export function createRouter(routes: readonly Route[]): Router {
  const root = newNode();
  for (const route of routes) add(root, route);
  return {
    find(method, path) {
      const segments = path.split("/");
      const params: string[] = [];
      const node = segments[0] === "" ? descend(root, segments, 1, params) : undefined;
      if (node === undefined) return UNKNOWN;
      const route = node.methods.get(method === "HEAD" ? "GET" : method) ?? node.methods.get("*");
      if (route === undefined) return { type: "wrong-method", routes: [...node.methods.values()] };
      return { type: "route", route, params: params.length === 0 ? NO_PARAMS : params.map(decoded) };
    },
  };
}

function newNode(): Node {
  return { literals: new Map(), parameter: null, methods: new Map() };
}

function add(root: Node, route: Route): void {
  let node = root;
  for (const segment of fullPath(route).split("/").slice(1)) {
    if (segment.startsWith("{")) {
      node.parameter ??= newNode();
      node = node.parameter;
    } else {
      const next = node.literals.get(segment) ?? newNode();
      node.literals.set(segment, next);
      node = next;
    }
  }
  if (node.methods.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
  node.methods.set(route.method, route);
}

function descend(node: Node, segments: readonly string[], index: number, params: string[]): Node | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.methods.size > 0 ? node : undefined;
  const literal = node.literals.get(segment);
  if (literal !== undefined) {
    const found = descend(literal, segments, index + 1, params);
    if (found !== undefined) return found;
  }
  if (node.parameter === null || segment === "") return undefined;
  params.push(segment);
  const found = descend(node.parameter, segments, index + 1, params);
  if (found === undefined) params.pop();
  return found;
}

/** Bad percent-encoding stays as it is: no id looks like it, so it is refused as an id. */
function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
