import type { PromptsView } from '../api.ts';
import { usePage } from './page-context.ts';

/** The bot's suggested questions; a tap sends one. */
export function PromptChips({ prompts, onAsk }: { prompts: PromptsView; onAsk(text: string): void }) {
  const { say } = usePage();
  const title = prompts.title ?? say('prompts');
  return (
    <div class="prompts" role="group" aria-label={title}>
      {prompts.title !== undefined && <p class="prompts-title">{title}</p>}
      <div class="questions">
        {prompts.items.map((prompt) => (
          <button key={prompt.title} type="button" title={prompt.message} onClick={() => onAsk(prompt.message)}>
            {prompt.title}
          </button>
        ))}
      </div>
    </div>
  );
}
