/** A socket to what should be a PostgreSQL: an answer that the driver cannot read ends the connection. The driver's parser throws, which would end our process. */
import { Socket } from "node:net";

export class GuardedSocket extends Socket {
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event !== "data") return super.emit(event, ...values);
    try {
      return super.emit(event, ...values);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.destroy(new Error(`its answer is not PostgreSQL's (${words})`));
      return true;
    }
  }
}
