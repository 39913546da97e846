import { request } from 'undici';
import type { MessengerEvent } from '../../src/simulator/api.ts';

/** The events that one person's open page received, in order. */
export interface Screen {
  readonly events: readonly MessengerEvent[];
  close(): void;
}

/** Everything that people could see of one answer. */
export interface SeenAnswer {
  /** All texts over time. */
  snapshots: string[];
  /**
   * Text shown apart from the answer at any time: WeCom's thinking block; Slack's status line and the small print of a
   * message.
   */
  apart: string[];
}

/** Subscribes to the events of a person's page. @param url the simulator's @param headers such as a cookie */
export async function watchScreen(
  url: string,
  personId: string,
  headers: Record<string, string> = {},
): Promise<Screen> {
  const leave = new AbortController();
  const { body } = await request(`${url}/api/people/${personId}/events`, {
    headers,
    signal: leave.signal,
    bodyTimeout: 0,
  });
  const events: MessengerEvent[] = [];
  const read = async () => {
    let rest = '';
    for await (const piece of body.setEncoding('utf8') as AsyncIterable<string>) {
      const blocks = `${rest}${piece}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, name, data] = /^event: (?!hello|beat)(\w+)\ndata: (.*)/.exec(block) ?? [];
        if (name !== undefined) events.push({ name, data: JSON.parse(data ?? '') as unknown } as MessengerEvent);
      }
    }
  };
  read().catch((error: unknown) => {
    if (!leave.signal.aborted) throw error;
  });
  return { events, close: () => leave.abort() };
}

/**
 * Everything that the page showed of an answer, and the status lines of its conversation.
 * @param from the number of events before its question
 */
export function seenOf(
  { events }: Screen,
  from: number,
  conversationId: string,
  answerId: string | undefined,
): SeenAnswer {
  const seen: SeenAnswer = { snapshots: [], apart: [] };
  for (const { name, data } of events.slice(from)) {
    if (name === 'status' && data.conversationId === conversationId) seen.apart.push(data.text);
    if (name !== 'message' || data.id !== answerId) continue;
    seen.snapshots.push(data.text);
    for (const line of [data.thinking, data.note]) if (line !== undefined) seen.apart.push(line);
  }
  return seen;
}
