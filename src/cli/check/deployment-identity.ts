import { z } from 'zod';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { JudgeProof, Reached } from '../../bot/app/configuration-proof.ts';
import { requestForCheck, type CheckAnswer } from '../../shared/http/check-request.ts';

export interface Whose {
  answer: CheckAnswer;
  reached: Reached;
}

/** Asks an address whether it is this Parley; a proof that was made for an earlier nonce is none. */
export async function askWhose(origin: string, judge: JudgeProof, path = '/healthz'): Promise<Whose> {
  const nonce = randomToken(16);
  const answer = await requestForCheck(`${origin}${path}?nonce=${nonce}`);
  return { answer, reached: 'body' in answer ? judge(nonce, proofIn(answer.body)) : 'something else' };
}

/** Asks where a proxy lets calls through, and at `/healthz` what does not know that address: a Parley that is older. */
export async function askWhoseFromOutside(origin: string, judge: JudgeProof): Promise<Whose> {
  const asked = await askWhose(origin, judge, '/webhooks/whose');
  return asked.answer.status === 404 ? askWhose(origin, judge) : asked;
}

function proofIn(body: string): string {
  return z.object({ proof: z.string() }).catch({ proof: '' }).parse(parseJson(body)).proof;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
