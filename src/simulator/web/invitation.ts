import type { MessageView } from '../api.ts';
import type { IsInApp } from './links.ts';

const LINK = /https?:\/\/[^\s()[\]<>"']+/g;
const SIGN_IN_LINK = /^.*\/link\/[\w-]+/;

/**
 * Whether an unfinished answer waits for its reader to sign in: it contains the bot's own sign-in link. It does not grow and
 * cannot be stopped.
 */
export function waitsForSignIn({ state, text }: MessageView, isInApp: IsInApp): boolean {
  return (
    state === 'streaming' && (text.match(LINK) ?? []).some((link) => (SIGN_IN_LINK.exec(link) ?? []).some(isInApp))
  );
}
