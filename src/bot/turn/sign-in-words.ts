import { MINUTE_MS } from '../../shared/clock.ts';
import { plainName } from '../../shared/text/html.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { localize, type Language } from '../../shared/text/texts.ts';
import { SIGN_IN_TEXTS } from '../i18n/sign-in-texts.ts';
import type { TurnContext } from './turn-context.ts';
import type { Outcome } from './outcome.ts';

/** Maximum wait for a person's name; without it, the group reply is sent without a name. */
const MAX_NAMING_MS = 1_500;

/** A sign-in link with its expiry. */
export interface ShownLink {
  url: string;
  expiresAtMs: number;
}

type Markup = 'markdown' | 'plain';

/** Values of `{link}` and `{minutes}` in an invitation. */
export function linkValues(
  { url, expiresAtMs }: ShownLink,
  { language, nowMs, markup }: { language: Language; nowMs: number; markup: Markup },
): { link: string; minutes: number } {
  return {
    link: linkTo(url, localize(SIGN_IN_TEXTS.linkLabel, language), markup),
    minutes: Math.max(1, Math.round((expiresAtMs - nowMs) / MINUTE_MS)),
  };
}

/** Formats a link for the chat: a label where markdown is rendered, the plain URL otherwise. */
export function linkTo(url: string, label: string, markup: Markup): string {
  return markup === 'markdown' ? `[${label}](${url})` : url;
}

/**
 * Addresses one person in a group: by a mention if the platform supports it, otherwise by the name, if known. Names from
 * outside are shown as plain text and cannot trigger a mention.
 */
export async function addressSender(context: TurnContext, words: string): Promise<Pick<Outcome, 'text' | 'mention'>> {
  const { platform, newest, question } = context;
  const { userId } = newest.sender;
  if (platform.canMention === true) return { text: upperFirst(words), mention: userId };
  const name = newest.sender.displayName ?? (await nameOf(context));
  if (name === undefined) return { text: upperFirst(words) };
  return { text: localize(SIGN_IN_TEXTS.named, question.language, { name: asText(name), text: words }) };
}

async function nameOf({ platform, newest }: TurnContext): Promise<string | undefined> {
  const asking = platform.displayNameOf?.(newest.sender.userId);
  const [name] = asking ? await settledWithin([asking], MAX_NAMING_MS) : [];
  return name;
}

/** Removes markdown from a name and keeps it on one line. */
function asText(name: string): string {
  return plainName(name).replace(/[\\`*_[\]<>()#~|]/g, '');
}

function upperFirst(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
