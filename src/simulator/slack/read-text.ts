import type { IncomingMessage } from 'node:http';
import { MIB_BYTES } from '../../shared/clock.ts';
import { readBody } from '../http/read-body.ts';
import { MessengerError } from '../messenger-error.ts';

const MAX_BODY_BYTES = MIB_BYTES;

/** A request's body. @throws MessengerError `bad_request` if it is larger than 1 MB */
export async function readText(request: IncomingMessage): Promise<string> {
  const tooLarge = () => new MessengerError('bad_request', 'The body is larger than 1 MB');
  return (await readBody(request, MAX_BODY_BYTES, tooLarge)).toString('utf8');
}
