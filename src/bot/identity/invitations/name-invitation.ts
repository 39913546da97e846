import { asError } from '../../../shared/coded-error.ts';
import type { Log } from '../../../shared/log.ts';
import type { ChatPerson } from '../account.ts';
import type { ChatApps } from '../browser/chat-apps.ts';
import type { Tickets } from './invitations.ts';

interface NamingParts {
  tickets: Tickets;
  apps: Pick<ChatApps, 'platformOf'>;
  log: Log;
}

/**
 * Notes beside a new ticket how the platform shows its person, for the pages to say who is to be connected. It happens in the
 * background, and within the few seconds that platforms have for an answer: a link waits for no name. Where the platform does
 * not tell one, the pages show the masked id.
 */
export async function nameTicket(
  { tickets, apps, log }: NamingParts,
  person: ChatPerson,
  ticket: string,
): Promise<void> {
  try {
    const name = await apps.platformOf(person)?.displayNameOf?.(person.chatUserId);
    if (name !== undefined) await tickets.name(ticket, name);
  } catch (thrown) {
    log.info({ error: asError(thrown) }, 'the platform did not tell a name');
  }
}
