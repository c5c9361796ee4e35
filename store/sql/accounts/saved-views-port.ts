/** Filters and orders of a project's monitors that people have named: their own, and those of everyone in the project. */

export interface SavedView {
  readonly id: number;
  readonly projectId: number;
  /** null: of everyone in the project. */
  readonly userId: number | null;
  readonly name: string;
  /** As the page's address has it after `?`. */
  readonly query: string;
}
export type NewView = Omit<SavedView, "id">;

/** Of one person in a project, and as many of everyone; our choice: the page shows them in a line or two. */
export const MOST_VIEWS = 20;

export interface SavedViews {
  /** The person's own and those of everyone, in the order in which they were made. */
  list(projectId: number, userId: number): Promise<readonly SavedView[]>;
  /** The place of one with the same name is taken. @returns undefined when there is no such project */
  save(view: NewView): Promise<SavedView | "full" | undefined>;
  /** Undefined also for another person's own. */
  find(projectId: number, userId: number, id: number): Promise<SavedView | undefined>;
  /** False when it is gone already. */
  remove(projectId: number, id: number): Promise<boolean>;
}
