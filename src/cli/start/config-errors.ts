/**
 * What is said of settings that cannot be used, each fault a line. Whoever ran the check is told too that nothing of what they
 * wanted to see was looked at yet.
 */
export function refusalOf(faults: readonly string[], { isCheck }: { isCheck: boolean }): string {
  const lines = [
    `Parley cannot start: ${faults.length} setting${faults.length === 1 ? '' : 's'} to mend`,
    ...faults.map((fault) => `  ${fault}`),
    ...(isCheck ? ['Nothing was tried yet. Mend this first, then run npm run check again.'] : []),
  ];
  return `${lines.join('\n')}\n`;
}
