import type { Redis } from 'ioredis';
import { personKey } from '../src/bot/identity/account.ts';
import { accountKeyOf } from '../src/bot/identity/links/commit-link.ts';
import { keys } from '../src/bot/identity/store.ts';
import { ownerOf, userIdOf } from './drain.ts';
import type { Ledger, SentEvent, Violation } from './ledger.ts';
import { accountIdOf } from './sign-in-service.ts';

/** The link table in Redis, in both directions. */
export interface LinkTable {
  /** Account by person. */
  links: Map<string, string>;
  /** Person by account. */
  holders: Map<string, string>;
}

export async function readLinks(store: Redis): Promise<LinkTable> {
  const [links, holders] = [new Map<string, string>(), new Map<string, string>()];
  for await (const names of store.scanStream({ match: '{id}:*', count: 1_000 }) as AsyncIterable<string[]>)
    for (const name of names) {
      if (name.startsWith(keys.link()))
        links.set(name.slice(keys.link().length), (await store.hget(name, 'accountKey')) ?? '');
      if (name.startsWith(keys.holder())) holders.set(name.slice(keys.holder().length), (await store.get(name)) ?? '');
    }
  return { links, holders };
}

/**
 * Checks that links are one to one, that each person is linked to the account that they signed in with and no other person
 * is linked, and that no question reached the model before its person had typed the code.
 * @param linked by conversation: the message that the bot answered with "signed in"
 */
export function judgeLinks(ledger: Ledger, linked: ReadonlyMap<number, SentEvent>, table: LinkTable): Violation[] {
  const violations: Violation[] = [];
  const accuse = (event: number, detail: string) => violations.push({ kind: 'crossed', event, detail });
  for (const [conversation, event] of linked) {
    const owner = ownerOf(event);
    const person = personKey({ ...owner, chatUserId: userIdOf(event) });
    const account = accountKeyOf(owner, accountIdOf(conversation));
    if (table.links.get(person) !== account) accuse(event.id, `C${conversation} is not linked to its own account`);
    if (table.holders.get(account) !== person) accuse(event.id, `the account of C${conversation} is held by another`);
  }
  if (table.links.size !== linked.size || table.holders.size !== linked.size)
    accuse(0, `${linked.size} people signed in; ${table.links.size} links, ${table.holders.size} accounts held`);
  for (const { number, conversation, asked, startedAtMs } of ledger.samplings) {
    const event = linked.get(conversation);
    if (event === undefined || startedAtMs < event.sentAtMs)
      accuse(asked.at(-1) ?? 0, `S${number} was asked before C${conversation} had signed in`);
  }
  return violations;
}
