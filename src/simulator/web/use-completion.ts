import { useMemo, useState } from 'preact/hooks';
import type { ConversationView } from '../api.ts';
import { completionAt, type Completion } from './completion.ts';
import { usePage } from './page-context.ts';

export interface OpenCompletion {
  completion: Completion | undefined;
  chosen: number;
  choose(index: number): void;
  /** Closes the list until the text changes. */
  dismiss(): void;
}

/** The list for the text before the caret, and its selected entry. */
export function useCompletion(text: string, caret: number, conversation: ConversationView): OpenCompletion {
  const { bootstrap, person, language, say } = usePage();
  const [choice, setChoice] = useState<{ of: string; index: number; dismissed: boolean }>();
  const completion = useMemo(
    () =>
      completionAt(text, caret, {
        kind: conversation.kind,
        botName: bootstrap.botName,
        botLabel: say('bot'),
        members: conversation.members.filter(({ id }) => id !== person.id),
        slashWords: bootstrap.slashWords,
        otherSpellings: bootstrap.otherSpellings,
        isSlashTaken: bootstrap.protocol === 'slack',
        language,
      }),
    [text, caret, conversation, bootstrap, person, language, say],
  );
  const of = text.slice(0, caret);
  const current = choice?.of === of ? choice : { of, index: 0, dismissed: false };
  return {
    completion: current.dismissed ? undefined : completion,
    chosen: Math.min(current.index, (completion?.options.length ?? 1) - 1),
    choose: (index) => setChoice({ ...current, index }),
    dismiss: () => setChoice({ ...current, dismissed: true }),
  };
}
