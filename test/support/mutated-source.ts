interface Mutant {
  file: string;
  find: string;
  replace: string;
}

/** A source file with the change that a run of `npm run mutants` makes to it, for what does not go through jest's transform. */
export function mutatedSource(path: string, source: string): string {
  const named = process.env['MUTANT'];
  if (named === undefined) return source;
  const { file, find, replace } = JSON.parse(named) as Mutant;
  return path.endsWith(`/${file}`) ? source.replace(find, () => replace) : source;
}
