import type { NowMs } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ChatLog } from '../chat-log.ts';
import type { Directory } from '../directory.ts';
import type { MediaStore } from '../media-store.ts';
import type { MessageStore } from '../message-store.ts';
import type { Timing } from '../timing.ts';
import type { BotClient } from './bot-client.ts';
import type { Interactions } from './interactions.ts';
import type { ProtocolTrace } from './protocol-trace.ts';

/** What the parts of the platform's side share. */
export interface PlatformSide {
  readonly directory: Directory;
  readonly store: MessageStore;
  readonly chatLog: ChatLog;
  readonly media: MediaStore;
  readonly client: BotClient;
  readonly interactions: Interactions;
  readonly trace: ProtocolTrace;
  readonly botName: string;
  readonly aiBotId: string;
  readonly nowMs: NowMs;
  readonly timing: Timing;
  readonly log: Log;
  /** Aborted at the messenger's stop: what is under way stays as it is and is taken up by the next start. */
  readonly signal: AbortSignal;
  /** The messenger's own address. */
  url(): string;
}
