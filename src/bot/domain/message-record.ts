/**
 * The record of one accepted message, a hash under `messageKey`: remembered delivery, ledger and live reply in one. Here alone its
 * fields are named; a house test holds every script to it. All values are texts.
 */
export const MESSAGE_FIELDS = {
  // The delivery.
  state: 'accepted, held, final, dead, limited, deleted',
  conversation: 'id of the conversation in which it waits',
  owner: 'id of the person who wrote it',
  atMs: 'when it was accepted, by the clock of Redis',
  target: 'where an answer is posted, on a platform that does not poll; as the platform writes it',
  history: 'id of the history of Redis in which it was accepted: another one is behind a failover',
  chatOrder: 'its place in the chat, where the platform gives one; the greater the later',
  later: '1: the platform has a later way for its answer',
  again: '1: it was delivered more than once, so that it is not known what the platform shows',
  againMs: 'when that was last',
  polledAgain: '1: the platform polled after that',
  heldIn: 'private or group: where it was held for a sign-in',
  stopped: '1: its sender stopped its answer',
  deleted: '1: its sender deleted it after its turn had begun',
  editedAt: 'when it was last edited, by the platform; the greater the later',
  editedTo: 'what it says since, sealed, where it was edited before it came',
  editedMerge: 'the merge key of that',
  // The answer.
  content: 'the visible text so far, sealed',
  finished: '1: nothing more is added to it',
  handedOver: '1: the rest goes another way than the live reply',
  delivery: 'by which way the answer went: live, follows, sent, kept, unavailable, refused, uncertain, removed',
  keep: '1: it stays open, for what follows a sign-in',
  turn: 'the message that was answered, where it was merged into another',
  epoch: 'of the worker that wrote the content',
  polled: '1: the platform has asked for it',
  newer: 'ids of the newer messages whose answer it waits for, apart by blanks',
  answeredBy: 'the model that answered',
  rule: 'the rule of the policy that allowed it',
  offers: 'en or zh: what may be pressed at the answer is offered in this language',
  offered: '1: the platform was given that',
  shownIn: 'id of the message that shows its answer',
  replaced: '1: a newer answer stands in its place',
} as const satisfies Readonly<Record<string, string>>;

/**
 * Of each part of an answer: its handle or `posting`, since when, whose post it is, and handles of messages that the part has left,
 * separated by blanks (reply/post-ledger.ts).
 */
export const PART_FIELDS = ['post', 'since', 'by', 'left'] as const;

type MessageField = keyof typeof MESSAGE_FIELDS;
type PartField = `${(typeof PART_FIELDS)[number]}:${number}`;

/** What is to be written into a record. */
export type MessageValues = Readonly<Partial<Record<MessageField | PartField, string>>>;

declare const named: unique symbol;
/** Names and values one after the other, as a script takes them; made by `messageFields` alone. */
export type MessageFields = string[] & { readonly [named]: true };

export function messageFields(values: MessageValues): MessageFields {
  return Object.entries(values).flat() as MessageFields;
}

/** The same with more names and values. */
export function withFields(fields: MessageFields, more: MessageFields): MessageFields {
  return [...fields, ...more] as MessageFields;
}

/** Names of fields that are to be read, checked by their type. */
export function fieldsToRead<const Names extends readonly (MessageField | PartField)[]>(...names: Names): [...Names] {
  return names as unknown as [...Names];
}

/** The field that holds where a part of the answer stands; the commit may write it too. */
export function postFieldOf(part: number): PartField {
  return `post:${part}`;
}
