import type { RawData } from 'ws';

/** A command of the bot. */
export interface CommandFrame {
  cmd: string;
  reqId: string;
  body: unknown;
}

/** What the platform brings. */
export type CallbackCmd = 'aibot_msg_callback' | 'aibot_event_callback';

/** What a frame says; undefined when it is no command that could be acknowledged. */
export function readFrame(data: RawData): CommandFrame | undefined {
  try {
    const { cmd, headers, body } = JSON.parse(textOf(data)) as {
      cmd?: unknown;
      headers?: { req_id?: unknown };
      body?: unknown;
    };
    const reqId = headers?.req_id;
    return typeof cmd === 'string' && typeof reqId === 'string' && reqId !== '' ? { cmd, reqId, body } : undefined;
  } catch {
    return undefined;
  }
}

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString('utf8') : '';
}
