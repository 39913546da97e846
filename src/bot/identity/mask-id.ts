const DOTS = '•••';

/** An id with its middle hidden, recognisable to its owner only: `zhangsan` → `zh•••an`; short ids show their first character. */
export function maskId(id: string): string {
  const characters = [...id];
  if (characters.length < 5) return `${characters[0] ?? ''}${DOTS}`;
  const shown = characters.length < 8 ? 1 : 2;
  return `${characters.slice(0, shown).join('')}${DOTS}${characters.slice(-shown).join('')}`;
}
