import type { MessageView } from '../api.ts';
import type { IsInApp } from './links.ts';

const SIGN_IN_LINK = /https?:\/\/[^\s()[\]<>"']+\/link\/[\w-]+/g;

/** Whether an answer that is not finished waits for its reader: it holds the bot's own sign-in link. Nothing grows then, and nothing can be stopped. */
export function waitsForSignIn({ state, text }: MessageView, isInApp: IsInApp): boolean {
  return state === 'streaming' && (text.match(SIGN_IN_LINK) ?? []).some(isInApp);
}
