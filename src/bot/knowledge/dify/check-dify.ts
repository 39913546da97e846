import { abortAfter } from '../../../shared/abort-after.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { HttpCallError } from '../../../shared/http/call-http.ts';
import type { CheckSource, SourceFinding } from '../source-check.ts';
import type { DifyDefinition } from '../source-kinds.ts';
import { DifyError, retrieve, type DifyFault } from './retrieve.ts';

/** The same limit as for a search. */
const ANSWER_LIMIT_MS = 5 * SECOND_MS;
/** The results are ignored. */
const TRIED = { query: 'library', limit: 1 };

/** Sends one test query with the configured key. */
export const checkDify: CheckSource<DifyDefinition> = async (definition, signal) => {
  const { address, knowledgeId, keyFile, readers } = definition;
  // The query string may contain a key, so it is not shown.
  const { origin, pathname } = new URL(address);
  const place = origin + pathname;
  const ending = abortAfter(ANSWER_LIMIT_MS, signal);
  try {
    await retrieve(definition, TRIED, ending);
  } catch (error) {
    signal.throwIfAborted();
    if (ending.aborted)
      return {
        verdict: 'fault',
        detail: `${place} does not answer within ${ANSWER_LIMIT_MS / SECOND_MS} seconds`,
        nextStep: 'searches skip it after that time: check the service and the network',
      };
    if (error instanceof DifyError) return faultOf(error, definition, place);
    throw error;
  }
  const answers = `${place} answers${keyFile === undefined ? '' : ' with the key'}, for ${knowledgeId}`;
  if (readers === 'nobody')
    return {
      verdict: 'warning',
      detail: `${answers}; it has no readers, so no one can find its documents`,
      nextStep: 'set "readers" in KNOWLEDGE_FILE to "public" or a who',
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
      nextStep: 'correct keyFile or the permissions of that file',
    },
    wrong_key: {
      detail: keyFile === '' ? `${place} requires a key` : `${place} refuses the key in ${keyFile}`,
      nextStep: keyFile === '' ? 'set keyFile to a file with the key' : 'write the key of the service into that file',
    },
    no_such_knowledge: { detail: `${place} has no knowledge base ${knowledgeId}`, nextStep: 'correct knowledgeId' },
    senseless: {
      detail: `${place} answers ${status === undefined ? 'too much data' : `with status ${status}`} and no records`,
      nextStep: 'write the complete address of the retrieval API: unlike Dify, Parley does not append /retrieval',
    },
    unreachable: {
      detail: `${place} cannot be reached (${codeOf(cause)})`,
      nextStep: 'start the service, correct the address, or allow the connection from this machine',
    },
  };
  return { verdict: 'fault', ...said[fault] };
}

function codeOf(cause: unknown): string {
  if (cause instanceof HttpCallError) return cause.detail;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : 'no connection';
}
