/** What tests use of the certified provider, which has no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  interface FoundAccount {
    readonly accountId: string;
    claims(): Readonly<Record<string, unknown>>;
  }

  export class Provider {
    constructor(
      issuer: string,
      configuration: Readonly<Record<string, unknown>> & {
        readonly findAccount: (context: unknown, id: string) => FoundAccount;
      },
    );
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
}
