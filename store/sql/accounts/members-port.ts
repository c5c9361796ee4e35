/** Members of a workspace, as its Owners and Admins change them. The operator's acts are in port.ts. */
import type { Role } from "../../../model/plan.ts";
import type { Person, UserRecord } from "./port.ts";

export interface Member {
  readonly user: UserRecord;
  readonly role: Role;
  readonly memberSinceMs: number;
}

export interface Invited extends Member {
  /** It belongs to no other workspace and has no key that reaches one: who signs in as this person reaches this workspace only. */
  readonly isOnlyHere: boolean;
}

/** Of one workspace. */
export const MOST_MEMBERS = 1_000;

export interface Members {
  /** Oldest membership first. */
  list(organizationId: number): Promise<readonly Member[]>;
  find(organizationId: number, userId: number): Promise<Member | undefined>;
  /** Makes the person where there is none with that address, and the membership. */
  invite(organizationId: number, person: Person, role: Role, nowMs: number): Promise<Invited | "member" | "full">;
  /**
   * @param refuse called with the role that the member has, in the transaction: what it throws undoes all
   * @returns undefined when there is no such member; the last Owner keeps the role
   */
  changeRole(
    organizationId: number,
    userId: number,
    role: Role,
    refuse: (before: Role) => void,
  ): Promise<Member | "lastOwner" | undefined>;
  /** The person's keys of that workspace stop at once. @param refuse as of changeRole */
  remove(
    organizationId: number,
    userId: number,
    refuse: (before: Role) => void,
  ): Promise<Member | "lastOwner" | undefined>;
}
