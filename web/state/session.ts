/** Who is signed in, and which project is open. */
import { batch, computed, signal } from "@preact/signals";
import { ApiError, apiBase, client, data, type Schemas, whenSignedOut } from "../api/client.ts";
import { chosenProject } from "./prefs.ts";
import { forgetProject } from "./project.ts";

export type SessionState =
  | { readonly kind: "asking" }
  | { readonly kind: "out" }
  | { readonly kind: "unreachable"; readonly error: unknown }
  | { readonly kind: "in"; readonly session: Schemas["Session"] };

export const session = signal<SessionState>({ kind: "asking" });

/** The session has ended while the page was open: what is open stays behind the sign-in, with all that was written in it. */
export const hasEnded = signal(false);

export const signedIn = computed(() => (session.value.kind === "in" ? session.value.session : null));

/** The chosen one if the session reaches it, else the default one, else the first. */
export const project = computed(() => (signedIn.value === null ? null : projectOf(signedIn.value)));

function projectOf(view: Schemas["Session"]) {
  const byId = (id: string | null) => view.projects.find((one) => one.id === id);
  return byId(chosenProject.value) ?? byId(view.default_project_id) ?? view.projects[0] ?? null;
}

/** Owners, admins and managers change things; viewers look. */
export const canEdit = computed(() => project.value !== null && project.value.role !== "viewer");
export const isAdmin = computed(() => project.value?.role === "owner" || project.value?.role === "admin");

/** Asks whether there is a session. */
export async function resumeSession(): Promise<void> {
  whenSignedOut(() => void askWhetherEnded());
  // What says that the service is away stays until it answers.
  if (session.peek().kind !== "unreachable") session.value = { kind: "asking" };
  try {
    enter(await data(client.GET("/session")));
  } catch (error) {
    if (error instanceof ApiError && [401, 403].includes(error.status)) leave();
    else session.value = { kind: "unreachable", error };
  }
}

/** A refused request may have been sent with the cookie before the one that another tab has got since. */
async function askWhetherEnded(): Promise<void> {
  if (session.peek().kind !== "in" || hasEnded.peek()) return;
  const before = signedIn.peek();
  await data(client.GET("/session")).catch((error: unknown) => {
    const isStill = session.peek().kind === "in" && signedIn.peek() === before;
    if (isStill && error instanceof ApiError && error.status === 401) hasEnded.value = true;
  });
}

/** @throws ApiError with the API's own message */
export async function signIn(
  by: { key: string } | { code: string } | { passkey: Record<string, unknown> },
): Promise<void> {
  enter(await data(client.POST("/session", { body: by })));
  tabs.postMessage("came");
}

export async function signOut(): Promise<void> {
  await data(client.DELETE("/session")).catch((error: unknown) => {
    // A session that is gone already is what was asked for.
    if (!(error instanceof ApiError) || ![401, 404].includes(error.status)) throw error;
  });
  leave();
  tabs.postMessage("left");
}

/** Other tabs of the browser have the same session. */
const tabs = new BroadcastChannel(`sonde ${apiBase()}`);
tabs.addEventListener("message", ({ data: what }: MessageEvent<"came" | "left">) => {
  const { kind } = session.peek();
  if (what === "left" && kind === "in") leave();
  if (what === "came" && (kind === "out" || hasEnded.peek()))
    // Where it cannot be had, the sign-in stays.
    data(client.GET("/session")).then(enter, () => {});
});

export function openProject(id: string): void {
  if (id === project.peek()?.id) return;
  forgetProject();
  chosenProject.value = id;
}

function enter(view: Schemas["Session"]): void {
  // Before the new one is asked for.
  if (projectOf(view)?.id !== project.peek()?.id) forgetProject();
  batch(() => {
    session.value = { kind: "in", session: view };
    hasEnded.value = false;
  });
}

function leave(): void {
  forgetProject();
  batch(() => {
    session.value = { kind: "out" };
    hasEnded.value = false;
  });
}
