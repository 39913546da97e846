import { expect, test } from '@jest/globals';
import { judgeLinks, type LinkTable } from '../../chaos/judge-links.ts';
import { ownerOf, userIdOf } from '../../chaos/drain.ts';
import type { Ledger, SentEvent } from '../../chaos/ledger.ts';
import { accountIdOf } from '../../chaos/sign-in-service.ts';
import { personKey } from '../../src/bot/identity/account.ts';
import { accountKeyOf } from '../../src/bot/identity/links/commit-link.ts';

const typed = (id: number, conversation: number): SentEvent => ({
  ...{ id, conversation, platform: 'wecom', messageId: `m${id}`, says: 'A1B2-C3D4', sentAtMs: 5_000, tries: [] },
});
const users = [typed(3, 2), typed(4, 4)];
const linked = new Map(users.map((event) => [event.conversation, event]));
const personOf = (event: SentEvent) => personKey({ ...ownerOf(event), chatUserId: userIdOf(event) });
const accountOf = (event: SentEvent) => accountKeyOf(ownerOf(event), accountIdOf(event.conversation));
const [first, second] = users as [SentEvent, SentEvent];
const goodTable = (): LinkTable => ({
  links: new Map(users.map((event) => [personOf(event), accountOf(event)])),
  holders: new Map(users.map((event) => [accountOf(event), personOf(event)])),
});
const ledgerAskedAt = (startedAtMs: number): Ledger => ({
  ...{ events: [], messages: [], summaries: [], resumptions: [], injectedFaults: [], poisons: [] },
  samplings: [
    {
      ...{ number: 1, worker: 'worker1.1', conversation: 2, asked: [1], inPrompt: [1], foreign: [], startedAtMs },
      ending: 'whole',
    },
  ],
});
const detailsOf = (spoil: (table: LinkTable) => unknown, askedAtMs = 5_500) => {
  const table = goodTable();
  spoil(table);
  return judgeLinks(ledgerAskedAt(askedAtMs), linked, table).map(({ detail }) => detail);
};

test('one-to-one links with later questions violate no rule', () => {
  expect(detailsOf(() => undefined)).toEqual([]);
});

test('an inconsistent link table is reported', () => {
  expect(detailsOf(({ links }) => links.set(personOf(first), accountOf(second)))).toEqual([
    'C2 is not linked to its own account',
  ]);
  expect(detailsOf(({ holders }) => holders.set(accountOf(second), personOf(first)))).toEqual([
    'the account of C4 is held by another',
  ]);
  expect(detailsOf(({ links }) => links.set('stranger', 'account'))).toEqual([
    '2 people signed in; 3 links, 2 accounts held',
  ]);
  expect(detailsOf(() => undefined, 4_999)).toEqual(['S1 was asked before C2 had signed in']);
});
