// Documents for the search benchmark: with a given number and size, half of them Chinese, with a Zipf distribution of words.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the same numbers in each run. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYLLABLES =
  'ba co di fu ge ha in jo ka le mi no or pe qua ri so tu ve wa xi yo zen tion ment able ing er al ous pre con sub'.split(
    ' ',
  );
const FIRST_IDEOGRAPH = 0x4e00;
const IDEOGRAPHS = 3_500;

/** Words of a language, most frequent first. */
function vocabulary(random, isChinese, size) {
  const words = new Set();
  while (words.size < size) {
    if (isChinese) {
      const length = random() < 0.15 ? 1 : random() < 0.8 ? 2 : 4;
      // A few characters occur in most words.
      words.add(
        Array.from({ length }, () =>
          String.fromCodePoint(FIRST_IDEOGRAPH + Math.floor(IDEOGRAPHS * random() ** 2) * 3),
        ).join(''),
      );
    } else
      words.add(
        Array.from(
          { length: 1 + Math.floor(random() * 4) },
          () => SYLLABLES[Math.floor(random() * SYLLABLES.length)],
        ).join(''),
      );
  }
  return [...words];
}

/** Zipf distribution of ranks, as in natural language: the first word is as frequent as the next two together, and so on. */
const zipf = (random, size) => Math.min(size - 1, Math.floor(Math.exp(random() * Math.log(size + 1)) - 1));

export function languages(seed = 1) {
  const random = seeded(seed);
  return { zh: vocabulary(random, true, 40_000), en: vocabulary(random, false, 60_000) };
}

/** A text of about this number of bytes. */
export function textOf(random, words, isChinese, bytes) {
  const pieces = [];
  let length = 0;
  while (length < bytes) {
    const sentence = Array.from({ length: 6 + Math.floor(random() * 14) }, () => words[zipf(random, words.length)]);
    const text = isChinese ? `${sentence.join('')}。` : `${sentence.join(' ')}. `;
    const ends = random() < 0.2 ? '\n\n' : '';
    pieces.push(text, ends);
    length += Buffer.byteLength(text) + ends.length;
  }
  return pieces.join('');
}

/** Writes documents below a directory, a hundred in each subdirectory. @returns the number of bytes */
export function writeDocuments(folder, count, bytesEach, seed = 2) {
  const random = seeded(seed);
  const { zh, en } = languages();
  let bytes = 0;
  for (let number = 0; number < count; number += 1) {
    const isChinese = number % 2 === 0;
    const words = isChinese ? zh : en;
    const title = Array.from({ length: 3 }, () => words[zipf(random, words.length)]).join(isChinese ? '' : ' ');
    const text = `# ${title}\n\n${textOf(random, words, isChinese, bytesEach * (0.3 + 1.4 * random()))}`;
    const place = join(folder, String(Math.floor(number / 100)));
    if (number % 100 === 0) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `${number}.md`), text);
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}

/** The most frequent words are stop words, which are not looked up. */
const IDLE_WORDS = 60;

/** Questions as people and models ask them: a few words, common and rare. */
export function questionsOf(count, seed = 3) {
  const random = seeded(seed);
  const { zh, en } = languages();
  return Array.from({ length: count }, (_, number) => {
    const words = number % 2 === 0 ? zh : en;
    const length = number % 2 === 0 ? 4 + Math.floor(random() * 8) : 4 + Math.floor(random() * 12);
    const telling = words.slice(IDLE_WORDS);
    return Array.from({ length }, () => telling[zipf(random, telling.length)]).join(number % 2 === 0 ? '' : ' ');
  });
}
