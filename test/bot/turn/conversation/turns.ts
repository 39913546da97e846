import fc from 'fast-check';
import type { HistoryTurn } from '../../../../src/bot/turn/conversation/history.ts';
import { asDeliveryId } from '../../../../src/bot/domain/ids.ts';

/** A valid finished turn of a private chat; every field can be overridden. */
export function turnOf(overrides: Partial<HistoryTurn> = {}): HistoryTurn {
  return {
    version: 1,
    turnId: asDeliveryId('t1'),
    atMs: 1,
    userText: 'question',
    images: 0,
    assistantText: 'answer',
    ...overrides,
  };
}

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom('你好，世界', '</message>', '<quoted>x'),
);

export const anySpeakerTag = fc.constantFrom(undefined, 'member-1a', 'member-2b');

export const anyTurn: fc.Arbitrary<HistoryTurn> = fc
  .record({
    turnId: fc.uuid().map(asDeliveryId),
    atMs: fc.nat(),
    userText: anyText,
    images: fc.nat(3),
    assistantText: anyText,
    speakerTag: anySpeakerTag,
    isWhole: fc.boolean(),
  })
  .map(({ speakerTag, isWhole, ...turn }) => ({
    version: 1,
    ...turn,
    ...(speakerTag === undefined ? {} : { speakerTag }),
    ...(isWhole ? {} : { interrupted: true }),
  }));
