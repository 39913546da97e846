import { hasEnded, toldBy, type Ledger, type Violation } from './ledger.ts';

/**
 * Checks that nothing visible is open once the system is idle: no message is growing or unfinished, whether or not its event
 * was acknowledged or exists; no stored event is unfinished in the product's record; and no status line is left.
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
    else if (!isFinal && event !== undefined) accuse(event, `its visible message was never finished; ${shows}`);
  }
  for (const { event, text } of statusesLeft) accuse(event, `a line below it still says: ${text}`);
  for (const event of events)
    if (event.record && !hasEnded(event.record) && !openEvents.has(event.id))
      accuse(event.id, `at rest, but the ledger says ${toldBy(event)}`);
  return violations;
}
