/** Reports each value that occurs twice. */
export function checkUnique(
  values: readonly (string | undefined)[],
  what: string,
  complain: (message: string) => void,
): void {
  const seen = new Set<string>();
  for (const value of values) {
    if (value === undefined) continue;
    if (seen.has(value)) complain(`${what} ${value} occurs twice`);
    seen.add(value);
  }
}
