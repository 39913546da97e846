import { useEffect, useRef } from 'preact/hooks';
import { Avatar } from './avatar.tsx';
import type { Completion, CompletionOption } from './completion.ts';
import { usePage } from './page-context.ts';

/** Ids of the elements that the text box refers to. */
export const COMPLETION_LIST_ID = 'completion-list';
export const completionOptionId = (index: number) => `completion-option-${index}`;

/** The list above the composer. The focus stays in the text box, which refers to the selected line by id. */
export function CompletionList(props: {
  completion: Completion;
  chosen: number;
  onChoose(index: number): void;
  onPick(option: CompletionOption): void;
}) {
  const { say } = usePage();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[props.chosen]?.scrollIntoView({ block: 'nearest' }), [props.chosen]);
  const { unknown } = props.completion;
  if (unknown !== undefined) {
    return (
      <p class="completion no-word" role="status">
        {say('unknownWord', { word: unknown })}
      </p>
    );
  }
  return (
    <ul
      ref={list}
      id={COMPLETION_LIST_ID}
      class="completion"
      role="listbox"
      aria-label={say(props.completion.kind === 'mention' ? 'mentionList' : 'commandList')}
    >
      {props.completion.options.map((option, index) => (
        <li
          key={option.insert}
          id={completionOptionId(index)}
          role="option"
          aria-selected={index === props.chosen}
          onPointerMove={() => props.onChoose(index)}
          onPointerDown={(event) => {
            event.preventDefault(); // The text box keeps the focus.
            props.onPick(option);
          }}
        >
          {props.completion.kind === 'mention' && <Avatar name={option.label} kind={option.isBot ? 'bot' : 'person'} />}
          <span class="completion-label">{option.label}</span>
          <span class="completion-detail">{option.detail}</span>
        </li>
      ))}
    </ul>
  );
}
