/** Everything of ours in Redis begins so. By itself: who only names a key need not load a client. */
export const PREFIX = "sonde:";
