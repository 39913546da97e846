import type { BotConnections, ProtocolOptions } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { DeliveryClient } from './bot-transport.ts';
import type { CallbackPayloads } from './callback-payload.ts';
import type { BotSockets } from './connection/bot-sockets.ts';
import type { UploadedFile } from './connection/uploads.ts';
import type { Interactions } from './interactions.ts';
import type { QuestionsParts } from './questions.ts';
import type { ShowDelayedAnswer } from './response-urls.ts';
import type { ShownAnswers } from './shown-answers.ts';
import type { UserIds } from './user-ids.ts';

/** One of the two transports between the platform and the bot: the bot's callback, or the long connection. */
export interface PlatformTransport {
  client: DeliveryClient;
  /** Set if a delivery is answered in its response. */
  opening?: QuestionsParts['answers'];
  showLater: ShowDelayedAnswer;
  connections?: BotConnections & Pick<BotSockets, 'upgrade'>;
  /** Files that the bot uploaded, by the secret in their address. */
  findFile?(key: string): UploadedFile | undefined;
  /** Resumes an answer that is still growing. */
  follow(answer: StoredMessage): void;
  resume(): Promise<void>;
  flushAnswers(): Promise<unknown>;
  settled(): Promise<void>;
}

/** What either transport works with. */
export interface WayParts {
  redis: ProtocolOptions['redis'];
  payloads: CallbackPayloads;
  shown: ShownAnswers;
  interactions: Interactions;
  userIds: UserIds;
  /** Sends a message again. */
  bringAgain(messageId: string): Promise<unknown>;
}
