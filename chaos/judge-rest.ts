import { hasEnded, toldBy, type Ledger, type Violation } from './ledger.ts';

/**
 * Once all has come to rest nothing visible is open: no message grows or waits for its end, whether its event was acknowledged
 * or not and whether it belongs to one at all; no event that the product stored is unfinished in its ledger; and no line says
 * that something is being done.
 */
export function judgeRest({ events, messages, statusesLeft = [] }: Ledger): Violation[] {
  const openEvents = new Set<number>();
  const violations: Violation[] = [];
  const accuse = (event: number | undefined, detail: string) => {
    if (event !== undefined) openEvents.add(event);
    violations.push({ kind: 'unfinished', event: event ?? 0, detail });
  };
  for (const { event, isFinal, isOpen, snapshots } of messages) {
    const shows = `it shows: ${snapshots.at(-1)?.text.slice(0, 60) ?? ''}`;
    if (isOpen === true) accuse(event, `its visible message is open; ${shows}`);
    else if (!isFinal && event !== undefined) accuse(event, `its visible message never ended; ${shows}`);
  }
  for (const { event, text } of statusesLeft) accuse(event, `a line below it still says: ${text}`);
  for (const event of events)
    if (event.record && !hasEnded(event.record) && !openEvents.has(event.id))
      accuse(event.id, `at rest, but the ledger says ${toldBy(event)}`);
  return violations;
}
