/** Waits for something that happens elsewhere. @throws Error when it does not happen within `limitMs` */
export async function untilTrue(condition: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> {
  const giveUpAtMs = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > giveUpAtMs) throw new Error('It did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
