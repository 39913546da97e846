import { describe, expect, test } from '@jest/globals';
import { reducePage, START_STATE, type PageChange, type PageState } from '../../../src/simulator/web/page-state.ts';
import { GROUP, messageView, PRIVATE } from './sample-views.ts';

const after = (...changes: PageChange[]): PageState => changes.reduce(reducePage, START_STATE);
const fetched: PageChange = { type: 'conversations-fetched', conversations: [PRIVATE, GROUP] };

describe('the page state', () => {
  test('sorts the newest conversation first', () => {
    expect(after(fetched).conversations?.map(({ id }) => id)).toEqual([GROUP.id, PRIVATE.id]);
    const newer = { ...PRIVATE, lastAtMs: (GROUP.lastAtMs ?? 0) + 1 };
    const state = after(fetched, { type: 'event', event: { name: 'conversation', data: newer } });
    expect(state.conversations?.map(({ id }) => id)).toEqual([PRIVATE.id, GROUP.id]);
  });

  test('shows messages of a conversation once it is fetched, also those that overtook the first fetch', () => {
    const event: PageChange = { type: 'event', event: { name: 'message', data: messageView() } };
    const { id, conversationId } = messageView();
    const gone: PageChange = { type: 'event', event: { name: 'gone', data: { id, conversationId } } };
    const load: PageChange = { type: 'messages-fetched', conversationId, messages: [] };
    expect(after(event).logs).toEqual({});
    expect(after(load, event).logs[conversationId]).toHaveLength(1);
    expect(after(event, load).logs[conversationId]).toHaveLength(1);
    expect(after(event, gone, load).logs[conversationId]).toEqual([]);
  });

  test('shows a failed fetch until one succeeds', () => {
    const failed: PageChange = { type: 'messages-unloaded', conversationId: PRIVATE.id };
    expect(after(failed, failed).unloaded).toEqual([PRIVATE.id]);
    expect(after(failed, { type: 'messages-fetched', conversationId: PRIVATE.id, messages: [] }).unloaded).toEqual([]);
  });

  test('clears the unread count of the conversation that is read', () => {
    const state = after(fetched, { type: 'conversation-read', conversationId: GROUP.id });
    expect(state.conversations?.map(({ unread }) => unread)).toEqual([0, 0]);
  });

  test('updates the open frame on a frame event, but opens none', () => {
    const frame = { id: 'f1', frameUrl: 'http://127.0.0.1:1/', host: 'a.example' };
    const moved: PageChange = { type: 'event', event: { name: 'frame', data: { ...frame, host: 'b.example' } } };
    expect(after(moved).frame).toBeUndefined();
    expect(after({ type: 'frame-opened', frame }, moved).frame?.host).toBe('b.example');
  });

  test('assumes bot and connection to be available at the start', () => {
    expect(START_STATE).toMatchObject({ connected: true, botReachable: true });
    const away = after(
      { type: 'event', event: { name: 'bot', data: { reachable: false } } },
      { type: 'connection', up: false },
    );
    expect(away).toMatchObject({ connected: false, botReachable: false });
  });
});
