import { useState } from 'preact/hooks';
import { isLocalOnly, rowKeyOf, type MessageLog } from './message-log.ts';
import { usePage } from './page-context.ts';

/** Loads the messages before the first one; the visible ones do not move. */
export function EarlierButton(props: {
  log: MessageLog;
  onEarlier(beforeId: string): Promise<void>;
  /** Called with the first row's key before earlier rows are inserted. */
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
