import type { RawData } from 'ws';

/** A command of the bot. */
export interface CommandFrame {
  cmd: string;
  reqId: string;
  body: unknown;
}

/** A frame from the platform. */
export type CallbackCmd = 'aibot_msg_callback' | 'aibot_event_callback';

/** Parses a frame; undefined if it is not a command that can be acknowledged. */
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
