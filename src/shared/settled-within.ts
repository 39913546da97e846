/**
 * Waits until all is settled, and no longer than `limitMs`; what is late goes on by itself. For work of which a part may hang,
 * such as commands to several masters of which one is gone.
 * @returns what was fulfilled in time; the rest failed or hangs
 */
export async function settledWithin<Result>(work: readonly Promise<Result>[], limitMs: number): Promise<Result[]> {
  const fulfilled: Result[] = [];
  const noted = work.map((one) =>
    one.then(
      (result) => void fulfilled.push(result),
      () => undefined,
    ),
  );
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  await Promise.race([Promise.all(noted), limit]);
  clearTimeout(timer);
  return [...fulfilled];
}
