const DOTS = '•••';

/**
 * Hides the middle of an id, so that only its owner recognizes it: `zhangsan` becomes `zh•••an`. Short ids show their first
 * character only.
 */
export function maskId(id: string): string {
  const characters = [...id];
  if (characters.length < 5) return `${characters[0] ?? ''}${DOTS}`;
  const shown = characters.length < 8 ? 1 : 2;
  return `${characters.slice(0, shown).join('')}${DOTS}${characters.slice(-shown).join('')}`;
}
