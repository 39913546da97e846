import type { InboundMessage } from '../domain/message.ts';
import { readCodes } from '../identity/typed-code/read-codes.ts';
import type { Config } from '../config/config.ts';
import { textOfMessage } from '../turn/prompt/question.ts';

/** A message with a sign-in code is handled separately and never merged with a question. */
function holdsCode(message: InboundMessage): boolean {
  return readCodes(textOfMessage(message)).length > 0;
}

/** On a platform with another proof, text that looks like a code is an ordinary message. */
export function holdsCodeOf({ signIn: { proofs, proofsBy } }: Config): (message: InboundMessage) => boolean {
  return (message) => (proofsBy[message.platform] ?? proofs).includes('typed-code') && holdsCode(message);
}
