/**
 * Waits until all promises are settled, but at most `limitMs`; late ones continue in the background. For work that may
 * partly hang, such as commands to several masters of which one is down.
 * @returns the results that were fulfilled in time; the rest failed or hang
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
