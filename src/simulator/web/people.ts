import type { PersonView } from '../api.ts';
import type { Say } from './page-texts.ts';

const AVATAR_COLOURS = 8;

/** What stands in an avatar: the last two Han characters of a Chinese name, else the first letters of the first and last word. */
export function initialsOf(name: string): string {
  const han = [...name.matchAll(/\p{Script=Han}/gu)].map((match) => match[0]);
  if (han.length > 0) return han.slice(-2).join('');
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const first = words.at(0) ?? '?';
  const last = words.length > 1 ? (words.at(-1) ?? '') : '';
  return ([...first].slice(0, 1).join('') + [...last].slice(0, 1).join('')).toLocaleUpperCase();
}

/** The number (0 to 7) of the avatar colour of a name; the same name has the same colour everywhere. */
export function avatarColourOf(name: string): number {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return hash % AVATAR_COLOURS;
}

/** What stands below somebody's name: the department, and that the account is closed. */
export function placeOf({ department, isInactive }: PersonView, say: Say): string {
  return [department, isInactive === true ? say('inactive') : ''].filter((part) => part !== '').join(' · ');
}

/** Who a tab is: the address's `?person=`, else what the tab remembers, else the directory's first; ids not in the directory are passed over. */
export function choosePerson(
  knownIds: readonly string[],
  addressQuery: string,
  remembered: string | null,
): string | undefined {
  const asked = new URLSearchParams(addressQuery).get('person');
  return [asked, remembered].find((id) => id !== null && knownIds.includes(id)) ?? knownIds[0];
}
