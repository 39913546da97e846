import { ignoreDebuggerSignal } from '../../../shared/process/stop-signals.ts';
import { IndexKeeper, type IndexReport } from './index-keeper.ts';
import type { IndexEvent, IndexCommand } from './index-messages.ts';

/**
 * Entry point of the index process (`index-process.ts`). It has no keys and an empty environment, and exits with its parent.
 * An uncaught error ends it; its successor starts from the files on disk.
 */
const REPORT: IndexReport = {
  documentsLeftOut: (event) => send({ kind: 'leftOut', event }),
  indexed: (event) => send({ kind: 'indexed', event }),
};

let keeper: IndexKeeper | undefined;

function send(message: IndexEvent): void {
  process.send?.(message, () => undefined);
}

process.on('message', (message: IndexCommand) => {
  if (message.kind === 'begin') {
    const { folder, lookEveryMs } = message;
    keeper = new IndexKeeper({ folder, report: REPORT, lookEveryMs });
  } else if (message.kind === 'use') keeper?.use(message.sources);
  else {
    const { id, query } = message;
    keeper?.search(query).then(
      (hits) => send({ kind: 'found', id, hits }),
      () => send({ kind: 'failed', id }),
    );
  }
});
ignoreDebuggerSignal();
process.on('disconnect', () => process.exit());
// Ctrl+C or a service manager signals all processes at once, but the parent may still finish answers that need the index.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
