/** Waits for an external event. @throws Error if it does not occur within `limitMs` */
export async function untilTrue(condition: () => unknown, limitMs = 45_000): Promise<void> {
  const giveUpAtMs = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > giveUpAtMs) throw new Error('It did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
