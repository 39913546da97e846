/** The known name with the smallest edit distance, if that is at most `maxEdits` and less than half of the letters. */
export function nearestOf(name: string, known: readonly string[], maxEdits: number): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, edits: editDistance(name, candidate) }));
  ranked.sort((left, right) => left.edits - right.edits);
  const best = ranked[0];
  return best && best.edits <= Math.min(maxEdits, Math.floor(name.length / 2)) ? best.candidate : undefined;
}

/** Edit distance: minimum number of insertions, deletions, substitutions and swaps of adjacent letters. */
export function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(rows, row - 1, column) + 1,
        (current[column - 1] ?? 0) + 1,
        at(rows, row - 1, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(rows, row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(current);
  }
  return at(rows, from.length, to.length);
}

function at(rows: number[][], row: number, column: number): number {
  return rows[row]?.[column] ?? 0;
}
