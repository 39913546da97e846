/** The message for unusable settings, one line per fault. After `npm run check`, it adds that nothing was checked. */
export function refusalOf(faults: readonly string[], { isCheck }: { isCheck: boolean }): string {
  const lines = [
    `Parley cannot start: ${faults.length} setting${faults.length === 1 ? '' : 's'} to correct`,
    ...faults.map((fault) => `  ${fault}`),
    ...(isCheck ? ['No service was checked. Correct these first, then run npm run check again.'] : []),
  ];
  return `${lines.join('\n')}\n`;
}
