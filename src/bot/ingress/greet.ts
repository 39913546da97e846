import { inBackground } from '../../shared/in-background.ts';
import { localize, type Language } from '../../shared/text/texts.ts';
import type { Sender } from '../domain/message.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform, Welcome } from '../platforms/platform.ts';
import type { SuggestedPrompts } from '../platforms/prompts-file.ts';
import type { DeliveryOf } from './arrival.ts';
import type { WebhookReport } from './webhook-report.ts';

/** The texts of a welcome and the suggested questions. A language without a text gets the default welcome. */
export interface Greeting {
  /** The person's, or the default. */
  language: Language;
  welcome?: Readonly<Partial<Record<Language, string>>>;
  prompts: SuggestedPrompts;
}

export interface GreetingOptions {
  /** The welcome and suggested questions for a person who has not written yet. Never rejects; bounded in time. */
  greeting(platform: Platform, to: { tenant: string; sender: Sender }): Promise<Greeting>;
  report: WebhookReport;
}

/**
 * The welcome of a person's first entry of the day (WeCom). The platform waits at most 5 s for it. `app/greeting.ts` chooses
 * the text, the platform's module writes it.
 */
export async function welcomeOf(
  { greeting, report }: GreetingOptions,
  platform: Platform,
  { botName, sender }: DeliveryOf<'entered-chat'>,
): Promise<Welcome> {
  report.welcomeSent({ platform: platform.name });
  const { welcome, prompts, language } = await greeting(platform, { tenant: platform.tenant, sender });
  return {
    botName,
    text: welcome?.[language] ?? localize(REPLY_TEXTS.welcome, language, { bot: botName }),
    prompts: prompts[language],
    heading: localize(REPLY_TEXTS.couldAsk, language),
  };
}

/** Suggests questions in a chat without messages. Runs in the background; failures are ignored. */
export function suggestPrompts(
  { greeting }: GreetingOptions,
  platform: Platform,
  { tenant, sender, target }: DeliveryOf<'opened-chat'>,
): void {
  inBackground(async () => {
    const { prompts, language } = await greeting(platform, { tenant, sender });
    await platformForTenant(platform, tenant)?.suggest?.(target, prompts, language);
  });
}
