/** Who is signed in, and which project is open. */
import { computed, signal } from "@preact/signals";
import { ApiError, client, data, type Schemas, whenSignedOut } from "../api/client.ts";
import { chosenProject } from "./prefs.ts";
import { forgetProject } from "./project.ts";

export type SessionState =
  | { readonly kind: "asking" }
  | { readonly kind: "out"; readonly because: "start" | "ended" | "left" }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "in"; readonly session: Schemas["Session"] };

export const session = signal<SessionState>({ kind: "asking" });

export const signedIn = computed(() => (session.value.kind === "in" ? session.value.session : null));

/** The chosen one if the session reaches it, else the default one, else the first. */
export const project = computed(() => {
  const view = signedIn.value;
  if (view === null) return null;
  const byId = (id: string | null) => view.projects.find((one) => one.id === id);
  return byId(chosenProject.value) ?? byId(view.default_project_id) ?? view.projects[0] ?? null;
});

/** Owners, admins and managers change things; viewers look. */
export const canEdit = computed(() => project.value !== null && project.value.role !== "viewer");
export const isAdmin = computed(() => project.value?.role === "owner" || project.value?.role === "admin");

/** Asks whether there is a session. */
export async function resumeSession(): Promise<void> {
  whenSignedOut(() => {
    if (session.peek().kind === "in") leave("ended");
  });
  // What says that the service is away stays until it answers.
  if (session.peek().kind !== "unreachable") session.value = { kind: "asking" };
  try {
    enter(await data(client.GET("/session")));
  } catch (error) {
    if (error instanceof ApiError && [401, 403].includes(error.status)) leave("start");
    else session.value = { kind: "unreachable", message: error instanceof Error ? error.message : String(error) };
  }
}

/** @throws ApiError with the API's own message */
export async function signIn(
  by: { key: string } | { code: string } | { passkey: Record<string, unknown> },
): Promise<void> {
  enter(await data(client.POST("/session", { body: by })));
}

export async function signOut(): Promise<void> {
  await data(client.DELETE("/session")).catch((error: unknown) => {
    // A session that is gone already is what was asked for.
    if (!(error instanceof ApiError) || ![401, 404].includes(error.status)) throw error;
  });
  leave("left");
}

export function openProject(id: string): void {
  if (id === project.peek()?.id) return;
  forgetProject();
  chosenProject.value = id;
}

function enter(view: Schemas["Session"]): void {
  session.value = { kind: "in", session: view };
}

function leave(because: "start" | "ended" | "left"): void {
  forgetProject();
  session.value = { kind: "out", because };
}
