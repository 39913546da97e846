import { useState } from 'preact/hooks';
import { isLocalOnly, rowKeyOf, type MessageLog } from './message-log.ts';
import { usePage } from './page-context.ts';

/** Fetches what lies before the first message; what is seen stays where it is. */
export function EarlierButton(props: {
  log: MessageLog;
  onEarlier(beforeId: string): Promise<void>;
  /** Called with the first row's key before others are put before it. */
  keepPlace(rowKey: string): void;
}) {
  const { say } = usePage();
  const [isLoading, setLoading] = useState(false);
  const first = props.log.find((message) => !isLocalOnly(message));
  if (!first) return null;
  const load = () => {
    if (isLoading) return;
    setLoading(true);
    props.keepPlace(rowKeyOf(first));
    void props.onEarlier(first.id).then(() => setLoading(false));
  };
  return (
    <div class="earlier">
      <button type="button" class="text-button" aria-disabled={isLoading} onClick={load}>
        {say(isLoading ? 'loading' : 'earlierMessages')}
      </button>
    </div>
  );
}
