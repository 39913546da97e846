/** Maximum nesting. Code that traverses or serializes a caller's value must not overflow the stack. */
export const MAX_LEVELS = 64;

/** Whether objects and lists are nested deeper than this number of levels. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  // Iterative, level by level: a recursive check could itself overflow the stack.
  let level: unknown[] = [value];
  for (let depth = 0; depth < levels; depth += 1) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
