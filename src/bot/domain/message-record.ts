/**
 * Record of one accepted message, a hash under `messageKey`: remembered delivery, post ledger and live reply in one. This
 * list names all of its fields, and a test checks every script against it. All values are strings.
 */
export const MESSAGE_FIELDS = {
  // The delivery.
  state: 'accepted, held, final, dead, limited, deleted',
  conversation: 'id of its conversation',
  owner: 'id of the person who wrote it',
  atMs: 'when it was accepted, by the Redis clock',
  target: 'where to post an answer, on a platform that does not poll; in the format of the platform, encrypted',
  history: 'id of the Redis history in which it was accepted; another one means a failover since then',
  chatOrder: 'its position in the chat, if the platform gives one; greater is later',
  later: '1: the platform has a later way for its answer',
  again: '1: accepted again or claimed after a failover, so that posts may exist that are not recorded',
  againMs: 'when that was last',
  polledAgain: '1: the platform has polled since then',
  heldIn: 'group: it was held for a sign-in in a group',
  full: '1: refused because too many messages waited in its conversation',
  stopped: '1: its sender stopped its answer',
  stopAt: 'handles of posts whose Stop its sender pressed before they were stored, separated by blanks',
  deleted: '1: its sender deleted it after its turn had begun',
  editedAt: 'time of the last edit by the clock of the platform; greater is later',
  editedTo: 'the new message, encrypted, if it was edited before it arrived',
  editedMerge: 'merge key of `editedTo`',
  // The answer.
  content: 'the visible text so far, encrypted',
  finished: '1: the text is complete',
  handedOver: '1: the live reply has ended, and the rest is delivered another way',
  delivery: 'how the answer was delivered: live, follows, sent, kept, unavailable, refused, uncertain, removed',
  keep: '1: it stays open until the sign-in',
  turn: 'id of the answered message, if it was merged into another',
  epoch: 'of the worker that wrote the content',
  claims:
    'each claim of its turn: `|<epoch>,<time>,<crashes>,<worker>,<time of the wake>`, followed by `~` and its steps (turn-trace.ts)',
  did: 'the newest of these steps: `<epoch>;<step>;…`',
  polled: '1: the platform has polled it',
  newer: 'ids of the newer messages whose answer it waits for, separated by blanks',
  answeredBy: 'the model that answered',
  rule: 'the policy rule that allowed the answer',
  offers: 'en or zh: language of the buttons to offer',
  offered: '1: the platform has received the buttons',
  shownIn: 'id of the message that shows its answer',
  replaced: '1: a newer answer has replaced it',
} as const satisfies Readonly<Record<string, string>>;

/**
 * For each part of an answer: its handle or `posting`, the time of that, its worker's epoch, and the handles of messages
 * that the part has abandoned, separated by blanks (reply/post-ledger.ts).
 */
export const PART_FIELDS = ['post', 'since', 'by', 'left'] as const;

type MessageField = keyof typeof MESSAGE_FIELDS;
type PartField = `${(typeof PART_FIELDS)[number]}:${number}`;

/** Values to write into a record. */
export type MessageValues = Readonly<Partial<Record<MessageField | PartField, string>>>;

declare const named: unique symbol;
/** Alternating names and values, as scripts take them. Created by `messageFields` only. */
export type MessageFields = string[] & { readonly [named]: true };

export function messageFields(values: MessageValues): MessageFields {
  const fields: string[] = [];
  // Unlike `flat`, which calls into the runtime for each value.
  for (const [name, value] of Object.entries(values)) if (value !== undefined) fields.push(name, value);
  return fields as MessageFields;
}

/** Adds more names and values. */
export function withFields(fields: MessageFields, more: MessageFields): MessageFields {
  return [...fields, ...more] as MessageFields;
}

/** Names of fields to read, checked at compile time. */
export function fieldsToRead<const Names extends readonly (MessageField | PartField)[]>(...names: Names): [...Names] {
  return names as unknown as [...Names];
}

/** Field with the handle of a part's post. The commit may write it too. */
export function postFieldOf(part: number): PartField {
  return `post:${part}`;
}
