/** A button of a message, with the data of a press. */
export interface SlackButton {
  label: string;
  action_id: string;
  value: string;
}

interface WireButton {
  action_id: string;
  value: string;
  text: { text: string };
  positive_button: Omit<WireButton, 'action_id'>;
  negative_button: Omit<WireButton, 'action_id'>;
}

/** The buttons in the blocks of a call, of both kinds. */
export function buttonsOf(args: Record<string, unknown>): SlackButton[] {
  const blocks = (args['blocks'] ?? []) as { type: string; elements?: WireButton[] }[];
  const elements = blocks.flatMap(({ type, elements: own = [] }) => (type === 'context' ? [] : own));
  return elements.flatMap((one) => {
    const { action_id: id } = one;
    const faces = 'positive_button' in one ? [one.positive_button, one.negative_button] : [one];
    return faces.map(({ text, value }) => ({ label: text.text, action_id: id, value }));
  });
}
