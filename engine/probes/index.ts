/** THE LIST: every probe the engine can run, one line each; the exported name is its kind. */
export {};
