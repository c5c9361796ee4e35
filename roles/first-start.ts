/** First start: owner, workspace on the Business plan, project and key of an empty control plane. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { StoreError } from "../store/errors.ts";
import { newKeyText } from "../store/key-text.ts";
import { CODE_LIVES_MS, newSecret } from "../store/session-secret.ts";
import type { CreatedWorkspace } from "../store/sql/accounts/port.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import { syncFolder } from "../store/sync-folder.ts";

export interface FirstStart {
  /** Shown once; null when this was not the first start. */
  readonly firstKey: string | null;
  /** What the key file holds; null when there is none. */
  readonly ownerKey: string | null;
  readonly keyFile: string;
  readonly projectId: number;
  /** Of a link that signs the owner in once; null when none was made. */
  readonly signInCode: string | null;
}

/** The project of a first start, for starts after it. */
const FIRST_PROJECT = "first_project";

/** @param isDemo whether every start has a sign-in link, not the first alone */
export async function ensureFirst(controlPlane: ControlPlane, keyFile: string, isDemo = false): Promise<FirstStart> {
  const nowMs = Date.now();
  const made = (await controlPlane.accounts.isEmpty()) ? await makeFirst(controlPlane, keyFile, nowMs) : undefined;
  if (made === undefined) {
    const projectId = Number((await controlPlane.meta.get(FIRST_PROJECT)) ?? 1);
    const signInCode = isDemo ? await codeOfOwner(controlPlane, projectId, nowMs) : null;
    return { firstKey: null, ownerKey: readKey(keyFile), keyFile, projectId, signInCode };
  }
  const { userId, projectId, keyText } = made;
  await controlPlane.meta.set(FIRST_PROJECT, String(projectId));
  const signInCode = await newCode(controlPlane, userId, nowMs);
  return { firstKey: keyText, ownerKey: keyText, keyFile, projectId, signInCode };
}

async function codeOfOwner(controlPlane: ControlPlane, projectId: number, nowMs: number): Promise<string | null> {
  const project = await controlPlane.accounts.project(projectId);
  const members = project === undefined ? [] : await controlPlane.accounts.membersOf(project.organizationId);
  const owner = members.find(({ role }) => role === "owner");
  return owner === undefined ? null : newCode(controlPlane, owner.user.id, nowMs);
}

async function newCode({ sessions }: ControlPlane, userId: number, nowMs: number): Promise<string> {
  const { text, hash } = newSecret();
  await sessions.addCode({ codeHash: hash, userId, nowMs, expiresAtMs: nowMs + CODE_LIVES_MS });
  return text;
}

interface MadeFirst extends CreatedWorkspace {
  readonly keyText: string;
}

/** @returns undefined when another process was faster */
async function makeFirst({ accounts }: ControlPlane, keyFile: string, nowMs: number): Promise<MadeFirst | undefined> {
  const { text, secretHash } = newKeyText();
  let keyText = "";
  // Kept before the commit: where this process dies in between, the next start is the first one again, and makes another key.
  const keep = (id: number): void => {
    keyText = text(id);
    keepKey(keyFile, keyText);
  };
  try {
    const made = await accounts.createFirst({
      email: "owner@localhost",
      userName: "Owner",
      workspaceName: "Workspace",
      plan: "business",
      projectName: "Project",
      nowMs,
      key: { name: "First key", secretHash, keep },
    });
    return { ...made, keyText };
  } catch (error) {
    if (await accounts.isEmpty()) throw error;
    return undefined;
  }
}

/** On the disk when it returns. @throws StoreError */
function keepKey(keyFile: string, key: string): void {
  try {
    const file = openSync(keyFile, "w", 0o600);
    try {
      writeSync(file, `${key}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    syncFolder(dirname(keyFile));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StoreError(`cannot write the owner's key to ${keyFile} (${code}): make its folder writable`, {
      cause: error,
    });
  }
}

function readKey(keyFile: string): string | null {
  return existsSync(keyFile) ? readFileSync(keyFile, "utf8").trim() : null;
}
