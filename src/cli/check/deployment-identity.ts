import { z } from 'zod';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { JudgeProof, Reached } from '../../bot/app/configuration-proof.ts';
import { requestForCheck, type CheckAnswer } from '../../shared/http/check-request.ts';
import { parseJson } from '../../shared/parse-json.ts';

export interface DeploymentIdentity {
  answer: CheckAnswer;
  reached: Reached;
}

/** Checks whether an address belongs to this Parley deployment. A proof for an earlier nonce is invalid. */
async function probe(origin: string, judge: JudgeProof, path: string): Promise<DeploymentIdentity> {
  const nonce = randomToken(16);
  const answer = await requestForCheck(`${origin}${path}?nonce=${nonce}`);
  return { answer, reached: 'body' in answer ? judge(nonce, proofIn(answer.body)) : 'something else' };
}

/** Tries the address that proxies forward, and then `/healthz`: the service and a port for metrics have only that. */
export async function probeIdentity(origin: string, judge: JudgeProof): Promise<DeploymentIdentity> {
  const asked = await probe(origin, judge, '/webhooks/whose');
  return asked.answer.status === 404 ? probe(origin, judge, '/healthz') : asked;
}

function proofIn(body: string): string {
  return z.object({ proof: z.string() }).catch({ proof: '' }).parse(parseJson(body)).proof;
}
