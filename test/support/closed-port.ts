/** A port of this machine at which nobody listens. Outside the range from which systems and `freePort` choose. */
export const CLOSED_PORT = 2;
