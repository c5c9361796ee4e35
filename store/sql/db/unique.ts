/** unique_violation of PostgreSQL: two writers stored the same at once. SQLite has one writer, so its check before the write is enough. */
export function isTaken(error: unknown): boolean {
  const codes = [error, (error as Error | undefined)?.cause].map(
    (one) => (one as { code?: unknown } | undefined)?.code,
  );
  return codes.includes("23505");
}
