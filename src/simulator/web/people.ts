import type { PersonView } from '../api.ts';
import type { Say } from './page-texts.ts';

const AVATAR_COLOURS = 8;

/**
 * Initials in an avatar: the last two Han characters of a Chinese name, otherwise the first letters of the first and last
 * word.
 */
export function initialsOf(name: string): string {
  const han = [...name.matchAll(/\p{Script=Han}/gu)].map((match) => match[0]);
  if (han.length > 0) return han.slice(-2).join('');
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const first = words.at(0) ?? '?';
  const last = words.length > 1 ? (words.at(-1) ?? '') : '';
  return ([...first].slice(0, 1).join('') + [...last].slice(0, 1).join('')).toLocaleUpperCase();
}

/** Index (0 to 7) of a name's avatar color; the same everywhere. */
export function avatarColourOf(name: string): number {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return hash % AVATAR_COLOURS;
}

/** Line below a name: the department, and whether the account is closed. */
export function placeOf({ department, isInactive }: PersonView, say: Say): string {
  return [department, isInactive === true ? say('inactive') : ''].filter((part) => part !== '').join(' · ');
}

/**
 * The tab's person: the address's `?person=`, otherwise the one that the tab remembers, otherwise the directory's first.
 * Unknown ids are ignored.
 */
export function choosePerson(
  knownIds: readonly string[],
  addressQuery: string,
  remembered: string | null,
): string | undefined {
  const asked = new URLSearchParams(addressQuery).get('person');
  return [asked, remembered].find((id) => id !== null && knownIds.includes(id)) ?? knownIds[0];
}
