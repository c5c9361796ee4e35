/** Users, workspaces, projects and memberships. */
import type { PlanName, Role } from "../../../model/plan.ts";

export interface UserRecord {
  readonly id: number;
  readonly email: string;
  readonly name: string | null;
  readonly active: boolean;
}
export interface WorkspaceRecord {
  readonly id: number;
  readonly name: string;
  readonly plan: PlanName;
  readonly suspended: boolean;
  readonly createdAtMs: number;
}
export interface ProjectRecord {
  readonly id: number;
  readonly organizationId: number;
  readonly name: string;
  readonly active: boolean;
  readonly createdAtMs: number;
}
/** A person is known by the e-mail address, whatever its case. */
export interface Person {
  readonly email: string;
  readonly name: string | null;
}

export interface NewWorkspace {
  readonly name: string;
  readonly plan: PlanName;
  readonly projectName: string;
  /** A person who is there already, or one to be made. */
  readonly owner: number | Person;
  readonly nowMs: number;
}
export interface CreatedWorkspace {
  readonly userId: number;
  readonly organizationId: number;
  readonly projectId: number;
}

/** Of the owner, for the first workspace. */
export interface FirstKey {
  readonly name: string;
  readonly secretHash: (id: number) => string;
  /** Called with its id before the commit, which does not happen when it throws: the key is kept, or nothing was made. It may be called again. */
  readonly keep: (id: number) => void;
}

export interface Accounts {
  /** Owner, workspace, project, membership, and the key that is asked for, of a first start, in one transaction. */
  createFirst(input: {
    email: string;
    userName: string;
    workspaceName: string;
    plan: PlanName;
    projectName: string;
    nowMs: number;
    key?: FirstKey;
  }): Promise<CreatedWorkspace>;
  /** Workspace with its first project and its owner's membership, in one transaction; undefined when the owner is not there. */
  createWorkspace(input: NewWorkspace): Promise<CreatedWorkspace | undefined>;
  isEmpty(): Promise<boolean>;

  user(id: number): Promise<UserRecord | undefined>;
  userByEmail(email: string): Promise<UserRecord | undefined>;
  /** False when there is no such person. */
  setUserActive(id: number, active: boolean): Promise<boolean>;

  workspace(id: number): Promise<WorkspaceRecord | undefined>;
  /** All of them, oldest first. */
  workspaces(): Promise<readonly WorkspaceRecord[]>;

  project(id: number): Promise<ProjectRecord | undefined>;
  /** Active projects of a workspace, oldest first. */
  projectsOf(organizationId: number): Promise<readonly ProjectRecord[]>;
  /** Inactive ones too, oldest first. */
  everyProjectOf(organizationId: number): Promise<readonly ProjectRecord[]>;
  /** Undefined when there is no such workspace. */
  createProject(organizationId: number, name: string, nowMs: number): Promise<ProjectRecord | undefined>;
  /** Monitors of an inactive project are neither shown nor checked. False when there is no such project. */
  setProjectActive(id: number, active: boolean): Promise<boolean>;
  /** Monitors of each project, both families, deleted ones left out; projects without any are absent. */
  monitorCounts(projectIds: readonly number[]): Promise<ReadonlyMap<number, number>>;

  role(userId: number, organizationId: number): Promise<Role | undefined>;
  /** Every workspace the person belongs to, oldest membership first: what an account-wide key reaches. */
  memberships(userId: number): Promise<readonly { readonly workspace: WorkspaceRecord; readonly role: Role }[]>;
  /** Oldest membership first. */
  membersOf(organizationId: number): Promise<readonly { readonly user: UserRecord; readonly role: Role }[]>;
  /**
   * Makes the person where there is none with that address, and the membership, or changes its role.
   * @returns undefined when there is no such workspace
   */
  addMember(
    organizationId: number,
    person: Person,
    role: Role,
    nowMs: number,
  ): Promise<{ readonly userId: number; readonly roleBefore: Role | null } | undefined>;
  /** The person's keys of that workspace stop at once. False when there is no such membership. */
  removeMember(organizationId: number, userId: number): Promise<boolean>;
}
