import type { LiveReply, LiveReplyOptions } from './live-reply.ts';
import { PulledReply } from './pulled-reply.ts';
import { PushedReply } from './pushed-reply.ts';

/** Creates the live reply of a turn: pushed or pulled, depending on the platform. */
export function createLiveReply(options: LiveReplyOptions): LiveReply {
  const { push } = options.platform;
  return push ? new PushedReply(options, push) : new PulledReply(options);
}
