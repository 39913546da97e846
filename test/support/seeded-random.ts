/** Random choices that are reproducible by seed. */
export interface SeededRandom {
  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** True in one of `of` cases. */
  oneIn(of: number): boolean;
  shuffle<T>(items: readonly T[]): T[];
  /** Letters and digits. */
  text(length: number): string;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** @param seed any text; another text gives other choices */
export function seededRandom(seed: string): SeededRandom {
  let state = 0;
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x9e3779b1) + 0x7f4a7c15;
  // Mulberry32: small, and good enough to vary tests.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    integer,
    pick: (choices) => choices[integer(0, choices.length - 1)] ?? choices[0],
    oneIn: (of) => integer(1, of) === 1,
    shuffle: (items) =>
      items
        .map((item) => ({ item, rank: next() }))
        .sort((left, right) => left.rank - right.rank)
        .map(({ item }) => item),
    text: (length) => Array.from({ length }, () => ALPHABET[integer(0, ALPHABET.length - 1)]).join(''),
  };
}
