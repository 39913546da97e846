import type { MessageView } from '../api.ts';
import type { IsInApp } from './links.ts';

const LINK = /https?:\/\/[^\s()[\]<>"']+/g;
const SIGN_IN_LINK = /^.*\/link\/[\w-]+/;

/** Whether an answer that is not finished waits for its reader: it holds the bot's own sign-in link. Nothing grows then, and nothing can be stopped. */
export function waitsForSignIn({ state, text }: MessageView, isInApp: IsInApp): boolean {
  return (
    state === 'streaming' && (text.match(LINK) ?? []).some((link) => (SIGN_IN_LINK.exec(link) ?? []).some(isInApp))
  );
}
