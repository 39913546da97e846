import type { InboundMessage } from '../domain/message.ts';
import { readCodes } from '../identity/typed-code/read-codes.ts';
import type { Config } from '../config/config.ts';
import { textOfMessage } from '../turn/prompt/question.ts';

/** A sign-in code is taken out of the conversation as a message of its own, never merged with a question. */
function holdsCode(message: InboundMessage): boolean {
  return readCodes(textOfMessage(message)).length > 0;
}

/** Where a platform has another proof, what looks like a code is a message like any other. */
export function holdsCodeOf({ signIn: { proofs, proofsBy } }: Config): (message: InboundMessage) => boolean {
  return (message) => (proofsBy[message.platform] ?? proofs).includes('typed-code') && holdsCode(message);
}
