// What was there before its rule, and may only become less.

/** Folder to how often it names a person for a process or a caller. */
export const FORBIDDEN_WORDS = {
  bench: 1,
  test: 3,
};

/** Blocks of commands in the documents that no test can run: their form alone is checked (test/docs). */
export const FORM_ONLY_BLOCKS = 5;
