interface Block {
  type: string;
  text?: string;
  elements?: { type: string; text: string }[];
}

function blocksOf(args: Record<string, unknown>): Block[] {
  return (args['blocks'] ?? []) as Block[];
}

/** The visible text of a post or an edit. */
export function textOf(args: Record<string, unknown>): string {
  if (typeof args['markdown_text'] === 'string') return args['markdown_text'];
  return blocksOf(args)
    .flatMap(({ type, text }) => (type === 'markdown' ? (text ?? '') : []))
    .join('\n\n');
}

/** The text of its context blocks, apart from the message. */
export function noteOf(args: Record<string, unknown>): string {
  const notes = blocksOf(args).filter(({ type }) => type === 'context');
  return notes.flatMap(({ elements = [] }) => elements.map(({ text }) => text)).join('\n');
}
