import type { LiveReply, LiveReplyOptions } from './live-reply.ts';
import { PulledReply } from './pulled-reply.ts';
import { PushedReply } from './pushed-reply.ts';

/** The live reply of a turn, by the way in which its platform shows answers. */
export function createLiveReply(options: LiveReplyOptions): LiveReply {
  const { push } = options.platform;
  return push ? new PushedReply(options, push) : new PulledReply(options);
}
