import { SECOND_MS } from '../../../shared/clock.ts';
import type { CheckSource, SourceFinding } from '../source-check.ts';
import type { DifyDefinition } from '../source-kinds.ts';
import { DifyError, retrieve, type DifyFault } from './retrieve.ts';

/** As long as an answer would wait for it. */
const ANSWER_LIMIT_MS = 5 * SECOND_MS;
/** What is found is of no interest. */
const TRIED = { query: 'library', most: 1 };

/** Asks the service one question, with its key. */
export const checkDify: CheckSource<DifyDefinition> = async (definition, signal) => {
  const { address, knowledgeId, keyFile, readers } = definition;
  // What an address may hold behind that is the service's own, and may be a key.
  const { origin, pathname } = new URL(address);
  const place = origin + pathname;
  const ending = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]);
  try {
    await retrieve(definition, TRIED, ending);
  } catch (error) {
    signal.throwIfAborted();
    if (ending.aborted)
      return {
        verdict: 'fault',
        detail: `${place} gives no answer within ${ANSWER_LIMIT_MS / SECOND_MS} seconds`,
        nextStep: 'people wait no longer for it: see to the service, or to the way there',
      };
    if (error instanceof DifyError) return faultOf(error, definition, place);
    throw error;
  }
  const answers = `${place} answers${keyFile === undefined ? '' : ' with the key'}, for ${knowledgeId}`;
  if (readers === 'nobody')
    return {
      verdict: 'warning',
      detail: `${answers}; it has no readers, so that nobody is given anything of it`,
      nextStep: 'say in KNOWLEDGE_FILE who may read it, "public" or a who',
    };
  return { verdict: 'ok', detail: answers };
};

function faultOf(
  { fault, status, cause }: DifyError,
  { knowledgeId, keyFile = '' }: DifyDefinition,
  place: string,
): SourceFinding {
  const said: Record<DifyFault, Omit<SourceFinding, 'verdict'>> = {
    key_unreadable: {
      detail: `its key file ${keyFile} cannot be read (${codeOf(cause)})`,
      nextStep: 'correct keyFile, or the rights of that file',
    },
    wrong_key: {
      detail: keyFile === '' ? `${place} wants a key` : `${place} does not take the key of ${keyFile}`,
      nextStep: keyFile === '' ? 'name a file with it in keyFile' : 'put the key that the service gives into that file',
    },
    no_such_knowledge: { detail: `${place} has no knowledge base ${knowledgeId}`, nextStep: 'correct knowledgeId' },
    senseless: {
      detail: `${place} answers ${status === undefined ? 'too much' : `with status ${status}`} and no records`,
      nextStep: 'write the whole address that takes the questions: nothing is added to it, as Dify adds /retrieval',
    },
    unreachable: {
      detail: `${place} cannot be reached (${codeOf(cause)})`,
      nextStep: 'start the service, correct the address, or open the way to it from this machine',
    },
  };
  return { verdict: 'fault', ...said[fault] };
}

function codeOf(cause: unknown): string {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : 'no connection';
}
