/** THE LIST of answer shapes, one file a group: they document the answers, and tests hold every answer against them. */
export * from "./account.ts";
export * from "./audit.ts";
export * from "./channels.ts";
export * from "./errors.ts";
export * from "./incidents.ts";
export * from "./keys.ts";
export * from "./maintenances.ts";
export * from "./members.ts";
export * from "./monitors.ts";
export * from "./overview.ts";
export * from "./public.ts";
export * from "./results.ts";
export * from "./session.ts";
export * from "./status-pages.ts";
export * from "./subscriptions.ts";
export * from "./tests.ts";
export * from "./words.ts";
