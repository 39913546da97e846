// Splits one answer into a platform's messages in a worker thread (`split-answer.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import { createMarkdownWriter } from './markdown/markdown-writer.ts';
import { SLACK_DIALECT } from './slack/dialect.ts';
import type { SplitWork } from './split-answer.ts';
import { WECOM_DIALECT } from './wecom/dialect.ts';

const { dialect, text, maxBytes } = workerData as SplitWork;
const writer = createMarkdownWriter(dialect === 'slack' ? SLACK_DIALECT : WECOM_DIALECT);
parentPort?.postMessage(writer.pieces(text, maxBytes));
