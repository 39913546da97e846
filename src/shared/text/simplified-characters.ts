import hongKong from 'opencc-js/dict/HKVariantsRev';
import traditional from 'opencc-js/dict/TSCharacters';

/**
 * Simplified form of each character of the basic plane, or the character itself. Several traditional characters may share
 * one (發 and 髮 become 发). Another version of OpenCC changes terms: then raise `FORMAT` of
 * `knowledge/index/segment-files.ts`.
 */
export const SIMPLIFIED: Readonly<Uint32Array> = simplifiedCharacters();

function simplifiedCharacters(): Uint32Array {
  const simplified = new Map(readEntries(traditional));
  const variants = new Map(readEntries(hongKong));
  return Uint32Array.from({ length: 0x10000 }, (_, code) => {
    // Two steps: 衞 is a variant of 衛, which becomes 卫.
    const first = simplified.get(code) ?? variants.get(code) ?? code;
    return simplified.get(first) ?? first;
  });
}

/** The first replacement of each single character. */
function readEntries(dictionary: string): [from: number, to: number][] {
  return dictionary.split('|').flatMap((entry): [number, number][] => {
    const [from, to] = entry.split(' ').map((character) => character.codePointAt(0) ?? 0);
    return from === undefined || to === undefined ? [] : [[from, to]];
  });
}
