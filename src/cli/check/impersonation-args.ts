import { PLATFORM_NAMES, type PlatformName } from '../../bot/domain/platform-name.ts';
import type { PolicyPerson, PolicyPlace } from '../../bot/policy/subject.ts';

/** The user, place and platform to simulate. */
export interface ImpersonationArgs {
  /** Undefined for a user without a linked account. */
  person: PolicyPerson | undefined;
  place: PolicyPlace;
  platform: PlatformName | undefined;
}

/**
 * Parses `JG 3100 private`, `XS 2203 group wrparleycampusit01` or `unlinked private`, optionally followed by a platform
 * name.
 * @returns undefined if it cannot be parsed
 */
export function readImpersonationArgs(text: string): ImpersonationArgs | undefined {
  const words = text.trim().split(/\s+/);
  const platform = PLATFORM_NAMES.find((name) => name === words.at(-1)?.toLowerCase());
  const said = platform === undefined || words.length < 3 ? words : words.slice(0, -1);
  const at = said.findIndex((word, index) => index > 0 && /^(?:private|group)$/i.test(word));
  const [identityCode = '', department = '', ...tooMany] = said.slice(0, Math.max(0, at));
  const [kind = '', id = '', ...rest] = said.slice(at);
  if (at < 1 || tooMany.length + rest.length > 0 || identityCode === '') return undefined;
  const isPrivate = kind.toLowerCase() === 'private';
  if (isPrivate !== (id === '')) return undefined;
  const isUnlinked = identityCode.toLowerCase() === 'unlinked';
  if (isUnlinked && department !== '') return undefined;
  return {
    person: isUnlinked ? undefined : { identityCode: identityCode.toUpperCase(), department },
    place: { kind: isPrivate ? 'private' : 'group', id },
    platform,
  };
}
