/** Words of the audit log. */

/** `<thing>.<participle>`, such as `monitor.deleted`. */
export type AuditWord = `${string}.${string}`;

export interface AuditSubject {
  /** The thing of the word. */
  readonly type: string;
  /** As the API writes it; null: several. */
  readonly id: string | null;
  readonly name: string | null;
}
