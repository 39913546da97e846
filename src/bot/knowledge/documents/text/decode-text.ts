import { isUtf8 } from 'node:buffer';
import { decodeBytes } from '../../../../shared/text/decode-bytes.ts';
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
const NOT_ASCII = /[^\0-\x7f]/gu;
/**
 * One or two Western accented letters before or after others. Chinese characters beside Latin letters are rarely alone, and
 * more often behind them.
 */
const BEFORE_LATIN = /(?<!\p{Script=Han})\p{Script=Han}(?=[A-Za-z])/gu;
const BEHIND_LATIN = /(?<=[A-Za-z])\p{Script=Han}(?!\p{Script=Han})/gu;
/** Weights of characters. Wrongly decoded text has many rare ones. */
const WEIGHTS = { common: 3, frequent: 1, rare: -2, beforeLatin: -2, behindLatin: -0.6 };
/** Ordinary text has a higher mean weight. */
const MIN_WEIGHT = 0.5;
/** Share of broken characters in UTF-8 text that was cut or damaged. Text in other encodings has more. */
const MAX_BROKEN = 0.1;

/**
 * Decodes text. The encoding is UTF-8 if valid, else taken from `declared`, else UTF-8 if nearly valid, else Big5 or GB18030
 * (Chinese), else Western European. A byte order mark takes precedence.
 * @throws DocumentError `unsupported` if the bytes are not text
 */
export function decodeText(bytes: Buffer, declared?: string): string {
  const encoding = encodingOf(bytes, declared);
  const text = decodeBytes(bytes, encoding);
  if (!looksLikeText(text.slice(0, SAMPLE_BYTES))) throw new DocumentError('unsupported', 'The file is not text');
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n');
}

function encodingOf(bytes: Buffer, declared: string | undefined): string {
  const marked = BYTE_ORDER_MARKS.find(([mark]) => bytes.subarray(0, mark.length).equals(mark));
  if (marked) return marked[1];
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return wide;
  if (isUtf8(bytes)) return 'utf-8';
  if (declared !== undefined && isKnown(declared)) return declared;
  const sample = sampleOf(bytes);
  if (isNearlyUtf8(sample)) return 'utf-8';
  const [best] = FREQUENT_PAIRS.map(({ encoding }) => ({ encoding, weight: chineseWeight(sample, encoding) }))
    .filter(({ encoding, weight }) => weight >= MIN_WEIGHT && isValid(bytes, encoding))
    .sort((one, other) => other.weight - one.weight);
  return best?.encoding ?? 'windows-1252';
}

/** The first part of a text that is not all ASCII, with the character before it. */
function sampleOf(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length && bytes[start]! < 0x80) start += 1;
  return bytes.subarray(Math.max(start - 1, 0), start + SAMPLE_BYTES);
}

function isNearlyUtf8(sample: Buffer): boolean {
  const letters = decodeBytes(sample).match(NOT_ASCII) ?? [];
  const broken = letters.filter((letter) => letter === '\ufffd').length;
  return broken <= (letters.length - broken) * MAX_BROKEN;
}

/**
 * Mean weight of the characters of a text outside ASCII. Most bytes are valid in both Chinese encodings, but become rare
 * characters and signs in the wrong one.
 */
function chineseWeight(sample: Buffer, encoding: string): number {
  const text = new TextDecoder(encoding).decode(sample, { stream: true });
  const letters = text.match(NOT_ASCII) ?? [];
  const sum = letters.reduce((total, letter) => total + weightOf(letter), 0);
  const countOf = (form: RegExp) => text.match(form)?.length ?? 0;
  const besideLatin = countOf(BEFORE_LATIN) * WEIGHTS.beforeLatin + countOf(BEHIND_LATIN) * WEIGHTS.behindLatin;
  return (sum + besideLatin) / Math.max(letters.length, 1);
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
  const manyZeros = sample.length * 0.35;
  if (zerosAt[1]! > manyZeros && zerosAt[0]! < manyZeros / 10) return 'utf-16le';
  return zerosAt[0]! > manyZeros && zerosAt[1]! < manyZeros / 10 ? 'utf-16be' : undefined;
}

/** Whether bytes are valid in an encoding. The last character may be cut. */
function isValid(bytes: Buffer, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
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
