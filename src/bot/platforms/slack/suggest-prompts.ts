import { fieldsOf } from '../../../shared/parse-json.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { neutraliseMentions } from '../markdown/alter-marks.ts';
import type { SuggestedPrompts } from '../prompts-file.ts';
import { SLACK_DIALECT } from './dialect.ts';
import type { SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';
import { readTarget } from './reply-target.ts';

/** A person is looking at an empty chat; later suggestions are useless. */
const TIMEOUT_MS = 3 * SECOND_MS;

/**
 * Suggests questions in a new thread with the app, or in the app's own chat, which has no threads yet
 * (PLATFORM_FACTS.md slack-assistant).
 */
export async function suggestPrompts(
  api: SlackApi,
  target: string,
  prompts: SuggestedPrompts,
  defaultLanguage: Language,
): Promise<void> {
  if (prompts.en.length + prompts.zh.length === 0) return;
  const { channel, threadTs, userId } = readTarget(target);
  const offered = prompts[(await languageOf(api, userId)) ?? defaultLanguage];
  if (offered.length === 0) return;
  const args = {
    channel_id: channel,
    thread_ts: threadTs,
    prompts: offered.map(({ title, message }) => ({ title: harmless(title), message: harmless(message) })),
  };
  await api.call('assistant.threads.setSuggestedPrompts', args, TIMEOUT_MS);
}

/** A person's Slack language, if Parley supports it; otherwise undefined, also if Slack does not return it. */
async function languageOf(api: SlackApi, userId: string): Promise<Language | undefined> {
  const answer = await api.call('users.info', { user: userId, include_locale: true }, TIMEOUT_MS);
  const locale = answer.kind === 'ok' ? textOf(fieldsOf(answer.body['user'])['locale']) : undefined;
  if (locale === undefined) return undefined;
  if (/^zh\b/i.test(locale)) return 'zh';
  return /^en\b/i.test(locale) ? 'en' : undefined;
}

function harmless(text: string): string {
  return neutraliseMentions(stripInvisible(text), SLACK_DIALECT);
}
