import type { ModelFileEntry } from './models-file.ts';

/**
 * Entries of known models that may fit a model name, most likely first: those of the same family (`deepseek`, `qwen`),
 * ordered by the length of the common name prefix. Only a trial shows whether an entry fits.
 */
export function entriesOfFamily(name: string, known: readonly ModelFileEntry[]): ModelFileEntry[] {
  const own = withoutMaker(name);
  const family = familyOf(own);
  if (family === '') return [];
  return known
    .filter((entry) => familyOf(withoutMaker(entry.name)) === family)
    .map((entry) => ({ entry, inCommon: lettersInCommon(own, withoutMaker(entry.name)) }))
    .sort((one, other) => other.inCommon - one.inCommon)
    .map(({ entry }) => entry);
}

/** Model name without its vendor: `Qwen/Qwen3-8B` matches as `qwen3-8b`. */
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
