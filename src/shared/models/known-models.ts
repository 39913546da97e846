import type { WrittenEntry } from './models-file.ts';

/**
 * The entries of known models that may fit one of this name, the likeliest first: of the same family (`deepseek`, `qwen`), those whose
 * name has most letters in common at its beginning. Whether one does fit is seen by trying.
 */
export function entriesOfFamily(name: string, known: readonly WrittenEntry[]): WrittenEntry[] {
  const own = withoutMaker(name);
  const family = familyOf(own);
  if (family === '') return [];
  return known
    .filter((entry) => familyOf(withoutMaker(entry.name)) === family)
    .map((entry) => ({ entry, inCommon: lettersInCommon(own, withoutMaker(entry.name)) }))
    .sort((one, other) => other.inCommon - one.inCommon)
    .map(({ entry }) => entry);
}

/** `Qwen/Qwen3-8B` is known by what stands behind its maker. */
function withoutMaker(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).toLowerCase();
}

function familyOf(name: string): string {
  return /^[a-z]*/.exec(name)?.[0] ?? '';
}

function lettersInCommon(one: string, other: string): number {
  let letters = 0;
  while (letters < one.length && one[letters] === other[letters]) letters += 1;
  return letters;
}
