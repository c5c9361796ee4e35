/**
 * Live messages of projects, from what changes something to the processes that show it. They cost nothing while no process listens: a
 * publisher knows which projects are listened to, and says nothing about the others. A message that is lost costs freshness until the page
 * reads anew, never truth.
 */
export interface Broadcasts {
  /** Whether a process may be listening to the project now: worth making a text for it. */
  isHeard(projectId: number): boolean;
  /** To every listener of the project, in this process too, in the order of this publisher. Nothing happens where none is. */
  publish(projectId: number, text: string): void;
  /** Publishers know of it within milliseconds. @returns what ends it */
  listen(projectId: number, listener: (text: string) => void): () => void;
}

export interface OpenBroadcasts extends Broadcasts {
  close(): Promise<void>;
}

/** Bytes of one message: a batch of the sink has a line of about 40 for each of some thousand rows. */
export const LONGEST_BROADCAST = 1_048_576;

/** Who listens to which project, in this process. */
export class ProjectListeners {
  readonly #byProject = new Map<number, Set<(text: string) => void>>();

  get projects(): readonly number[] {
    return [...this.#byProject.keys()];
  }

  has(projectId: number): boolean {
    return this.#byProject.has(projectId);
  }

  /** The same function may listen twice; each ends by itself. @returns what ends it: true when it was the project's last */
  add(projectId: number, listener: (text: string) => void): () => boolean {
    const entry = (text: string): void => listener(text);
    const entries = this.#byProject.get(projectId) ?? new Set();
    entries.add(entry);
    this.#byProject.set(projectId, entries);
    return () => {
      if (!entries.delete(entry) || entries.size > 0) return false;
      return this.#byProject.delete(projectId);
    };
  }

  tell(projectId: number, text: string): void {
    for (const entry of this.#byProject.get(projectId) ?? []) entry(text);
  }
}
