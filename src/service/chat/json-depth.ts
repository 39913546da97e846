/** Whoever walks through a value of a caller's or writes it down again must not run out of stack. */
export const MAX_LEVELS = 64;

/** Whether objects and lists stand within each other further than so many levels. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  // Level by level: what calls itself would run out of stack as well.
  let level: unknown[] = [value];
  for (let depth = 0; depth < levels; depth += 1) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
