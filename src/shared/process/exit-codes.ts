/** Exit codes of the process. */
export const EXIT = { ok: 0, crash: 1, failed: 1, settings: 2, usage: 2 } as const;
