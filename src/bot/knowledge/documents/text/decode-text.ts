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
/** Ordinary text has more; wrongly decoded text has hardly any. */
const MIN_COMMON = 0.1;

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
  if (isBig5(bytes)) return 'big5';
  return isChinese(bytes) && isWhole(bytes, 'gb18030') ? 'gb18030' : 'windows-1252';
}

/** Most Big5 texts are valid GB18030 too, but become rare characters. */
function isBig5(bytes: Buffer): boolean {
  const share = shareOfCommon(bytes, 'big5');
  return share >= MIN_COMMON && share > shareOfCommon(bytes, 'gb18030') && isWhole(bytes, 'big5');
}

/** The share of everyday characters among the Chinese characters of a text. */
function shareOfCommon(bytes: Buffer, encoding: string): number {
  const text = new TextDecoder(encoding).decode(bytes.subarray(0, SAMPLE_BYTES));
  const letters = text.match(/\p{Script=Han}/gu) ?? [];
  return letters.filter((letter) => COMMON.has(letter)).length / Math.max(letters.length, 1);
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

/** Chinese characters are pairs of high bytes. Western accented letters are single high bytes between ASCII letters. */
function isChinese(bytes: Buffer): boolean {
  let paired = 0;
  let alone = 0;
  const end = Math.min(bytes.length, SAMPLE_BYTES);
  for (let at = 0; at < end; at += 1) {
    if (bytes[at]! < 0x81) continue;
    if ((bytes[at + 1] ?? 0) >= 0x81) {
      paired += 1;
      at += 1;
    } else alone += 1;
  }
  return paired > alone;
}

function looksLikeText(sample: string): boolean {
  const controls = sample.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g)?.length ?? 0;
  return controls <= Math.max(2, sample.length * MAX_CONTROLS) && !sample.includes('\0\0');
}
