import { createServer } from "node:net";

/**
 * A TCP port of this host that is free now; another process may take it before the caller binds it.
 * @param port to be tried; 0: the kernel chooses
 * @returns rejects with the error of listen(2): EADDRINUSE, EACCES, EADDRNOTAVAIL
 */
export function freePort(host: string, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : port));
    });
  });
}
