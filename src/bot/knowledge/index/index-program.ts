import { ignoreDebuggerSignal } from '../../../shared/process/stop-signals.ts';
import { IndexKeeper, type IndexReport } from './index-keeper.ts';
import type { FromIndex, ToIndex } from './index-messages.ts';

/**
 * The program of the process that keeps the index (`index-process.ts`). It has no key and no environment, and ends with whoever
 * started it. An error that nobody caught ends it, and another one starts from what is on disk.
 */
const REPORT: IndexReport = {
  documentsLeftOut: (event) => tell({ kind: 'leftOut', event }),
  indexed: (event) => tell({ kind: 'indexed', event }),
};

let keeper: IndexKeeper | undefined;

function tell(message: FromIndex): void {
  process.send?.(message, () => undefined);
}

process.on('message', (message: ToIndex) => {
  if (message.kind === 'begin') {
    const { folder, lookEveryMs } = message;
    keeper = new IndexKeeper({ folder, report: REPORT, lookEveryMs });
  } else if (message.kind === 'use') keeper?.use(message.sources);
  else {
    const { id, query } = message;
    keeper?.search(query).then(
      (hits) => tell({ kind: 'found', id, hits }),
      () => tell({ kind: 'failed', id }),
    );
  }
});
ignoreDebuggerSignal();
process.on('disconnect', () => process.exit());
// Ctrl+C in a terminal, or a service manager, tells all processes at once, and whoever searches may still answer.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
