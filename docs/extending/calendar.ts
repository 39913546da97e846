import type { ReadDocument } from '../document.ts';
import { decodeText } from '../text/decode-text.ts';
import { TextCollector } from '../text-collector.ts';

const NAMES: ReadonlyMap<string, string> = new Map([
  ['SUMMARY', 'Event'],
  ['DTSTART', 'Start'],
  ['DTEND', 'End'],
  ['LOCATION', 'Place'],
]);

/** Reads an iCalendar file (RFC 5545): one part per event. */
export async function readCalendar(bytes: Buffer): Promise<ReadDocument> {
  const gathering = new TextCollector();
  let count = 0;
  let lines: string[] = [];
  for (const line of decodeText(bytes).split('\n')) {
    if (gathering.isFull()) break;
    const [field = '', ...value] = line.trimEnd().split(':');
    const name = NAMES.get(field.split(';')[0] ?? '');
    if (line.startsWith('BEGIN:VEVENT')) lines = [];
    else if (line.startsWith('END:VEVENT')) gathering.add(lines.join('\n'), `event ${(count += 1)}`);
    else if (name !== undefined) lines.push(`${name}: ${value.join(':')}`);
  }
  return gathering.result();
}
