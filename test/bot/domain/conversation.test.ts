import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ALL_PARTITIONS,
  conversationOf,
  deliveryIdOf,
  personIdOf,
  type GroupScope,
} from '../../../src/bot/domain/conversation.ts';
import type { Chat } from '../../../src/bot/domain/message.ts';
import { tries } from '../../support/tries.ts';

const anyName = fc.constantFrom('a', 'b', 'ab', 'a|b', 'a:', ':a', '1:a', '');
const anyChat: fc.Arbitrary<Chat> = fc
  .record({
    kind: fc.constantFrom('private' as const, 'group' as const),
    id: anyName,
    threadId: fc.option(anyName, { nil: undefined }),
  })
  .map(({ threadId, ...chat }) => (threadId === undefined ? chat : { ...chat, threadId }));
const anyPlace = fc.record({
  platform: fc.constantFrom('wecom', 'slack'),
  tenant: anyName,
  app: anyName,
  chat: anyChat,
  sender: fc.record({ userId: anyName }),
});
const FIELDS = ['platform', 'tenant', 'app', 'chat', 'sender', 'thread', 'all'] as const;
type Field = (typeof FIELDS)[number];
type Place = Parameters<typeof conversationOf>[0];
const anyField = fc.constantFrom(...FIELDS);
const anyScope = fc.constantFrom<GroupScope>('member', 'group');

/** The parts of a conversation key (SECURITY.md one-conversation-key), written independently of the code. */
function tuple({ platform, tenant, app, chat, sender }: Place, scope: GroupScope): string {
  const isShared = chat.kind === 'group' && (scope === 'group' || chat.threadId !== undefined);
  return JSON.stringify([
    platform,
    tenant,
    app,
    chat.kind,
    chat.id,
    chat.threadId ?? '',
    isShared ? null : sender.userId,
  ]);
}

describe('a conversation', () => {
  test('has the same id exactly if all parts of its key are equal', () => {
    fc.assert(
      fc.property(anyPlace, anyPlace, anyField, anyScope, (left, other, field, scope) => {
        const right = differingIn(field, left, other);
        const [one, two] = [conversationOf(left, scope), conversationOf(right, scope)];
        expect(one.id === two.id).toBe(
          emptyMeansNobody(left, right, scope) || tuple(left, scope) === tuple(right, scope),
        );
        expect(one.id).toMatch(/^[0-9a-f]{32}$/);
      }),
      { numRuns: tries(2_000) },
    );
  });

  test('is in one of 64 partitions, which is the same for the whole chat in every scope', () => {
    fc.assert(
      fc.property(anyPlace, anyName, (place, userId) => {
        const { partition } = conversationOf(place, 'member');
        expect(ALL_PARTITIONS).toContain(partition);
        expect(conversationOf({ ...place, sender: { userId } }, 'group').partition).toBe(partition);
      }),
    );
    const used = new Set(
      Array.from({ length: 2_000 }, (_, index) => conversationOf(chatNumber(index), 'member').partition),
    );
    expect(used.size).toBe(64);
  });

  test('is personal in a private chat and shared in a thread', () => {
    const at = (kind: 'private' | 'group', userId: string, threadId?: string) => ({
      ...chatNumber(1),
      chat: { kind, id: 'c', ...(threadId === undefined ? {} : { threadId }) },
      sender: { userId },
    });
    const idOf = (place: ReturnType<typeof at>, scope: GroupScope) => conversationOf(place, scope).id;
    expect(idOf(at('private', 'x'), 'group')).not.toBe(idOf(at('private', 'y'), 'group'));
    expect(idOf(at('group', 'x'), 'member')).not.toBe(idOf(at('group', 'y'), 'member'));
    expect(idOf(at('group', 'x'), 'group')).toBe(idOf(at('group', 'y'), 'group'));
    expect(idOf(at('group', 'x', 't'), 'member')).toBe(idOf(at('group', 'y', 't'), 'member'));
    expect(idOf(at('group', 'x', 't'), 'group')).not.toBe(idOf(at('group', 'x', 'u'), 'group'));
    expect(idOf(at('private', 'x'), 'member')).not.toBe(idOf(at('group', 'x'), 'member'));
  });
});

/** The first place with one field of the second, because keys collide most easily between neighbours. */
function differingIn(field: Field, left: Place, other: Place): Place {
  if (field === 'all') return other;
  if (field === 'thread') {
    const { kind, id } = left.chat;
    const { threadId } = other.chat;
    return { ...left, chat: threadId === undefined ? { kind, id } : { kind, id, threadId } };
  }
  return { ...left, [field]: other[field] };
}

/** An empty user id cannot occur on a platform. In a personal conversation its key may equal that of a shared one. */
function emptyMeansNobody(left: Place, right: Place, scope: GroupScope): boolean {
  const blank = (place: typeof left): string => tuple(place, scope).replace(/null\]$/, '""]');
  return blank(left) === blank(right);
}

function chatNumber(index: number): Place {
  return {
    platform: 'wecom',
    tenant: 't',
    app: 'a',
    chat: { kind: 'private', id: `u${index}` },
    sender: { userId: `u${index}` },
  };
}

test('delivery ids and person ids are unique and deterministic', () => {
  const anyMessage = fc.record({
    platform: fc.constant('wecom' as const),
    tenant: anyName,
    app: anyName,
    messageId: anyName,
  });
  fc.assert(
    fc.property(anyMessage, anyMessage, (left, right) => {
      const isSame = JSON.stringify(left) === JSON.stringify(right);
      expect(deliveryIdOf(left) === deliveryIdOf(right)).toBe(isSame);
      expect(personIdOf(left, left.messageId) === personIdOf(right, right.messageId)).toBe(isSame);
    }),
  );
  expect(deliveryIdOf({ platform: 'wecom', tenant: 't', app: 'a', messageId: 'm' })).toMatch(/^[0-9a-f]{40}$/);
});
