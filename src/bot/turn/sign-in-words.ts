import { MINUTE_MS } from '../../shared/clock.ts';
import { plainName } from '../../shared/text/html.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { say, type Language } from '../../shared/text/texts.ts';
import { SIGN_IN_TEXTS } from '../i18n/sign-in-texts.ts';
import type { TurnContext } from './turn-context.ts';
import type { Outcome } from './outcome.ts';

/** A group is told to sign in at once, with the name if the platform has it by then. */
const LONGEST_NAMING_MS = 1_500;

/** A link to sign in with, and until when it is good. */
export interface ShownLink {
  url: string;
  expiresAtMs: number;
}

type Markup = 'markdown' | 'plain';

/** What an invitation says in place of `{link}` and `{minutes}`. */
export function linkWords(
  { url, expiresAtMs }: ShownLink,
  { language, nowMs, markup }: { language: Language; nowMs: number; markup: Markup },
): { link: string; minutes: number } {
  return {
    link: linkTo(url, say(SIGN_IN_TEXTS.linkLabel, language), markup),
    minutes: Math.max(1, Math.round((expiresAtMs - nowMs) / MINUTE_MS)),
  };
}

/** A link as the chat shows it: a label where markdown is rendered, the address alone where it is not. */
export function linkTo(url: string, label: string, markup: Markup): string {
  return markup === 'markdown' ? `[${label}](${url})` : url;
}

/**
 * A word of ours to one person among others: mentioned where the platform can, else by their name, if it is known. Never by what a
 * text says: names from outside are shown as text.
 */
export async function toAsker(context: TurnContext, words: string): Promise<Pick<Outcome, 'text' | 'mention'>> {
  const { platform, newest, question } = context;
  const { userId } = newest.sender;
  if (platform.canMention === true) return { text: upperFirst(words), mention: userId };
  const name = newest.sender.displayName ?? (await nameOf(context));
  if (name === undefined) return { text: upperFirst(words) };
  return { text: say(SIGN_IN_TEXTS.named, question.language, { name: asText(name), text: words }) };
}

async function nameOf({ platform, newest }: TurnContext): Promise<string | undefined> {
  const asking = platform.displayNameOf?.(newest.sender.userId);
  const [name] = asking ? await settledWithin([asking], LONGEST_NAMING_MS) : [];
  return name;
}

/** A name is no markdown, and a line. */
function asText(name: string): string {
  return plainName(name).replace(/[\\`*_[\]<>()#~|]/g, '');
}

function upperFirst(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
