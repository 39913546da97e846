import type { TurnSources } from './turn-sources.ts';
import type { KeptFile } from '../files/kept-file.ts';
import type { SummaryRequest } from '../prompt/earlier-summary.ts';

/** What becomes known of an answer while it is made, beside its text. Made anew for each question, and written by its one way only. */
export interface AnswerState {
  /** Lines that the person is told about this answer, apart from its text. */
  readonly notes: string[];
  /** The model that answers. */
  model?: string;
  /** What was retrieved for it, once its tools are known. */
  sources?: Pick<TurnSources, 'all'>;
  /** What the question's own files say. */
  files?: readonly KeptFile[];
  /** The lines of `notes` that say up to where files are used. */
  cutLines?: readonly string[];
  /** What was said before does not belong to this question's conversation any more. */
  startsAnew: boolean;
  /** What of the conversation was missing in this answer's prompt. */
  missing?: SummaryRequest;
}
