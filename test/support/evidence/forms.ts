import type { KnownSecret } from './evidence.ts';

/** One byte representation of a secret. */
export interface Form {
  bytes: Buffer;
  /** `as it is`, `base64`, … */
  name: string;
}

/** Texts and long secrets are also searched for by their beginning and end, since a log may cut them. */
const PIECE_CHARS = 24;
const MIN_BYTES = 8;
/** Minimum number of different characters of a secret. */
const MIN_LETTERS = 6;

/** Whether a text identifies a secret. One that repeats a few characters is filler of a test and occurs everywhere. */
export function isDistinctive(text: string): boolean {
  return new Set(text).size >= MIN_LETTERS;
}

/** All representations of a secret to search for: complete and cut, plain and encoded. */
export function formsOf({ kind, value }: KnownSecret): Form[] {
  // A secret may begin or end with filler, for example `aaaa…` after the first characters of a real ticket.
  const pieces = piecesOf(Buffer.from(value).toString()).filter(isDistinctive);
  // Keys of 32 bytes are configured in base64, but used, and leaked, as bytes.
  const raw = kind === 'key' && /^[\w+/-]{43}=?$/.test(value) ? [Buffer.from(value, 'base64')] : [];
  const forms = [
    ...pieces.flatMap((piece) => encodings(Buffer.from(piece), piece)),
    ...raw.flatMap((key) => encodings(key)),
  ];
  const seen = new Set<string>();
  return forms.filter(({ bytes }) => {
    const isNew = bytes.length >= MIN_BYTES && !seen.has(bytes.toString('latin1'));
    seen.add(bytes.toString('latin1'));
    return isNew;
  });
}

/** Cut between complete characters. */
function piecesOf(value: string): string[] {
  if (value.length <= PIECE_CHARS) return [value];
  const head = [...value.slice(0, 2 * PIECE_CHARS)].slice(0, PIECE_CHARS);
  const tail = [...value.slice(-2 * PIECE_CHARS)].slice(-PIECE_CHARS);
  return [head.join(''), tail.join('')];
}

function encodings(bytes: Buffer, text?: string): Form[] {
  const forms: Form[] = [
    { name: 'as it is', bytes },
    { name: 'hex', bytes: Buffer.from(bytes.toString('hex')) },
    { name: 'hex', bytes: Buffer.from(bytes.toString('hex').toUpperCase()) },
    ...[0, 1, 2].flatMap((shift) => base64Within(bytes, shift)),
  ];
  if (text === undefined) return forms;
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[^\x20-\x7e]/gu, (char) =>
    [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
  const html = text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  for (const [name, encoded] of [
    ['in an address', encodeURIComponent(text)],
    ['in a form', new URLSearchParams([['', text]]).toString().slice(1)],
    ['in JSON', json],
    ['in JSON', ascii],
    ['in JSON within JSON', JSON.stringify(json).slice(1, -1)],
    ['in HTML', html],
  ] as const)
    forms.push({ name, bytes: Buffer.from(encoded) });
  return forms;
}

/** The base64 of the bytes at offset `shift` within a group of three, without the symbols shared with neighbouring bytes. */
function base64Within(bytes: Buffer, shift: number): Form[] {
  const groups = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const from = Math.ceil((shift * 8) / 6);
  const end = Math.floor(((shift + bytes.length) * 8) / 6);
  const inner = groups.slice(from, end);
  return [
    { name: 'base64', bytes: Buffer.from(inner) },
    { name: 'base64url', bytes: Buffer.from(inner.replaceAll('+', '-').replaceAll('/', '_')) },
  ];
}
