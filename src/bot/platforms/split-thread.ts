// Splits one answer into a platform's messages in a worker thread (`split-answer.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import { createMarkdownWriter } from './markdown/markdown-writer.ts';
import { SLACK_DIALECT } from './slack/dialect.ts';
import type { SplitJob } from './split-answer.ts';
import { WECOM_DIALECT } from './wecom/dialect.ts';

const { dialect, text, maxBytes } = workerData as SplitJob;
const writer = createMarkdownWriter(dialect === 'slack' ? SLACK_DIALECT : WECOM_DIALECT);
parentPort?.postMessage(writer.split(text, maxBytes));
