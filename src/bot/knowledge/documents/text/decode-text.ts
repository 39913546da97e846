import { DocumentError } from '../document.ts';

const BYTE_ORDER_MARKS: readonly [mark: Buffer, encoding: string][] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
];
/** Size of the sample from which the encoding is guessed. */
const SAMPLE_BYTES = 65_536;
/** Maximum share of control characters in a text, not counting tabs and line ends. */
const MAX_CONTROLS = 0.005;

/** Characters of everyday Chinese, simplified and traditional. */
const COMMON: ReadonlySet<string> = new Set(
  '的一是不了在人有我他這这個个們们中來来上大為为和國国地到以說说時时要就出會会可也你對对生能而子那得於于著着下自之年過过發发後后作里裡用道行所然家種种事成方多經经去法學学如都同現现當当沒没動动面起看定天分還还進进好小部其些主樣样理心她本前開开但因只從从想實实日期書书館馆借閱阅週周至時间間放第名文件',
);
/** Ranges of the frequent characters in each encoding: lead bytes and trail bytes, inclusive. */
const FREQUENT_PAIRS = [
  { encoding: 'gb18030', leads: [0xb0, 0xd7], trails: [0xa1, 0xfe] },
  { encoding: 'big5', leads: [0xa4, 0xc6], trails: [0x40, 0xfe] },
] as const;
const PUNCTUATION = /[\u3001\u3002\u3008-\u3011\u2014\u2018-\u201d\u2026\u00b7\uff01-\uff5e]/;
/** Western accented letters touch other letters. */
const TOUCHING = /[A-Za-z]\p{Script=Han}|\p{Script=Han}[A-Za-z]/gu;
/** Weights of characters. Wrongly decoded text has many rare ones. */
const WEIGHTS = { common: 3, frequent: 1, rare: -2, touching: -2 };
/** Ordinary text has a higher mean weight. */
const MIN_WEIGHT = 0.5;

/**
 * Decodes text. The encoding is taken from a byte order mark, else from `declared`, else UTF-8 if valid, else Big5 or
 * GB18030 (Chinese), else Western European.
 * @throws DocumentError `unsupported` if the bytes are not text
 */
export function decodeText(bytes: Buffer, declared?: string): string {
  const encoding = encodingOf(bytes, declared);
  const text = new TextDecoder(encoding).decode(bytes);
  if (!looksLikeText(text.slice(0, SAMPLE_BYTES))) throw new DocumentError('unsupported', 'The file is not text');
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n');
}

function encodingOf(bytes: Buffer, declared: string | undefined): string {
  const marked = BYTE_ORDER_MARKS.find(([mark]) => bytes.subarray(0, mark.length).equals(mark));
  if (marked) return marked[1];
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return wide;
  if (isWhole(bytes, 'utf-8')) return 'utf-8';
  if (declared !== undefined && isKnown(declared)) return declared;
  const [best] = FREQUENT_PAIRS.map(({ encoding }) => ({ encoding, weight: chineseWeight(bytes, encoding) }))
    .filter(({ encoding, weight }) => weight >= MIN_WEIGHT && isWhole(bytes, encoding))
    .sort((one, other) => other.weight - one.weight);
  return best?.encoding ?? 'windows-1252';
}

/**
 * Mean weight of the characters of a text outside ASCII. Most bytes are valid in both Chinese encodings, but become rare
 * characters and signs in the wrong one.
 */
function chineseWeight(bytes: Buffer, encoding: string): number {
  const text = new TextDecoder(encoding).decode(bytes.subarray(0, SAMPLE_BYTES), { stream: true });
  const letters = text.match(/[^\0-\x7f]/gu) ?? [];
  const sum = letters.reduce((total, letter) => total + weightOf(letter), 0);
  const touching = text.match(TOUCHING)?.length ?? 0;
  return (sum + touching * WEIGHTS.touching) / Math.max(letters.length, 1);
}

function weightOf(letter: string): number {
  if (COMMON.has(letter)) return WEIGHTS.common;
  frequent ??= frequentCharacters();
  return frequent.has(letter) || PUNCTUATION.test(letter) ? WEIGHTS.frequent : WEIGHTS.rare;
}

let frequent: ReadonlySet<string> | undefined;

function frequentCharacters(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { encoding, leads, trails } of FREQUENT_PAIRS) {
    const decoder = new TextDecoder(encoding);
    for (let lead: number = leads[0]; lead <= leads[1]; lead += 1)
      for (let trail: number = trails[0]; trail <= trails[1]; trail += 1) {
        const letter = decoder.decode(Uint8Array.of(lead, trail));
        if (/^\p{Script=Han}$/u.test(letter)) found.add(letter);
      }
  }
  return found;
}

/**
 * Detects UTF-16 without a byte order mark: in Western text every second byte is zero. Chinese UTF-16 text usually has a
 * mark.
 */
function wideEncoding(bytes: Buffer): string | undefined {
  const sample = bytes.subarray(0, 2_000);
  if (sample.length < 4) return undefined;
  const zerosAt = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) zerosAt[at % 2]! += 1;
  });
  const most = sample.length * 0.35;
  if (zerosAt[1]! > most && zerosAt[0]! < most / 10) return 'utf-16le';
  return zerosAt[0]! > most && zerosAt[1]! < most / 10 ? 'utf-16be' : undefined;
}

function isWhole(bytes: Buffer, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function isKnown(encoding: string): boolean {
  try {
    return new TextDecoder(encoding).encoding !== '';
  } catch {
    return false;
  }
}

function looksLikeText(sample: string): boolean {
  const controls = sample.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g)?.length ?? 0;
  return controls <= Math.max(2, sample.length * MAX_CONTROLS) && !sample.includes('\0\0');
}
