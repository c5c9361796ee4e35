/** The two databases that the control plane is kept in. */
export type Dialect = "sqlite" | "postgres";
