import type { ConversationRef } from '../platforms/conversation-key.ts';

/** What a turn leaves behind; written by one fenced script. */
export interface TurnCommit {
  /** `final`: answered. `held`: waits for the sender's sign-in. `dead`: given up with an apology. */
  outcome: 'final' | 'held' | 'dead';
  /** Set where it is held in a group: there others may wait too, and a question is not answered later than any other. */
  heldIn?: 'group';
  /**
   * Last snapshots of live replies, by delivery id: field names and values of the message record; and what is to follow an answer
   * in a message of its own, sealed.
   */
  records: { id: string; fields: string[]; followUp?: string }[];
  /** `anew`: the conversation begins with this turn, and nothing of before is summed up any more. */
  history?: { forget?: boolean; replaceLast?: boolean; append?: string; anew?: boolean };
  /** The same turn for the thread that its answer begins; it lies in the same partition. */
  threadHistory?: { conversation: ConversationRef; append: string };
  /** Records to be taken out of lists, keys and fields of hashes to be deleted, summaries to be cleared (/forget); all lie in the same partition. */
  erase?: {
    remove: { list: string; record: string }[];
    drop: string[];
    fields?: { key: string; field: string }[];
    clear?: string[];
  };
  /** The thread in which this was said, and the person's list of them. */
  thread?: { index: string; id: string };
  /** Sealed notices that are done with. */
  noticesShown?: string[];
  /** What the sender chose from now on in a chat. */
  preferences?: { personId: string; field: string; sealed: string };
  /** What the person used: fields of a hash in the conversation's partition, and how much each grows. */
  usage?: { key: string; add: Record<string, number>; lifeMs: number };
  /** The sequence of the stop word that ended this turn early. */
  stopServed?: number;
}

/** Whether something is to follow the answer once it is committed. */
export function hasFollowUp({ records }: TurnCommit): boolean {
  return records.some(({ followUp }) => followUp !== undefined);
}
