/** API keys, as hashes, and their owners. */
import type { Role } from "../../../model/plan.ts";
import type { UserRecord, WorkspaceRecord } from "./port.ts";

export type KeyKind = "workspace" | "account";
export interface KeyRecord {
  readonly id: number;
  readonly name: string;
  readonly kind: KeyKind;
  readonly userId: number;
  readonly organizationId: number | null;
  /** Hex SHA-256 of the whole key string. */
  readonly secretHash: string;
  readonly active: boolean;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}
/** A key with the person and the workspace behind it, as they are now. */
export interface KeyAccess {
  readonly key: KeyRecord;
  readonly user: UserRecord;
  /** Of a workspace key; null for account-wide ones. */
  readonly workspace: WorkspaceRecord | null;
  /** The person's role there; null when the membership is gone, or for account-wide keys. */
  readonly role: Role | null;
}
export interface NewKey {
  readonly name: string;
  readonly kind: KeyKind;
  readonly userId: number;
  readonly organizationId: number | null;
  readonly expiresAtMs: number | null;
  readonly nowMs: number;
  /** The id is part of the key string, so the hash is made once the id is known. */
  readonly secretHash: (id: number) => string;
}
export interface Keys {
  create(input: NewKey): Promise<KeyRecord>;
  /** @param most keys of the workspace, disabled and expired ones too */
  createWithin(most: number, input: NewKey & { readonly organizationId: number }): Promise<KeyRecord | "full">;
  access(id: number): Promise<KeyAccess | undefined>;
  find(id: number): Promise<KeyRecord | undefined>;
  /** Newest first: those of the workspace, or of one person there. */
  ofWorkspace(organizationId: number, userId: number | null): Promise<readonly KeyRecord[]>;
  /** Newest first: all of the user's own, and those of all users in the workspaces named. */
  ofPerson(userId: number, organizationIds: readonly number[]): Promise<readonly KeyRecord[]>;
  /** Switches the key off or on. @returns the key after the change; undefined when it is gone */
  setActive(id: number, active: boolean): Promise<KeyRecord | undefined>;
  /** Deletes the key. @returns false when it was not there */
  remove(id: number): Promise<boolean>;
  /** Batched by the caller; may lag by a minute. */
  touch(uses: ReadonlyMap<number, number>): Promise<void>;
}
