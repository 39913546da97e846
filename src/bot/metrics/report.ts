import type { ChatReport } from '../model/chat-types.ts';
import type { IdentityReport } from '../identity/audit.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { KnowledgeReport } from '../knowledge/knowledge-report.ts';
import type { QueueReport } from '../queue/queue-report.ts';
import type { ReplyReport } from '../reply/reply-report.ts';
import type { TurnReport } from '../turn/turn-ports.ts';
import type { WebhookReport } from '../ingress/webhook-report.ts';

/** Events of platform calls. */
interface PlatformReport {
  /** A platform refuses all calls until the operator fixes the app. `code` is the platform's own. */
  platformRefused(event: { platform: PlatformName; code: string }): void;
  /** A platform did not carry out a write. `method` and `code` are the platform's own. */
  writeRefused(event: { platform: PlatformName; method: string; code: string; meaning: string }): void;
}

/** Events of turns, their replies and the platforms that show them. */
export type AnswerReport = TurnReport & ReplyReport & PlatformReport;

/**
 * One function per event, for all modules of the bot. Each writes its log line and updates its metrics, so that the two
 * always agree. Ids go to the log only, small sets of values to labels; message text and tokens go to neither.
 */
export type Report = WebhookReport & AnswerReport & QueueReport & ChatReport & IdentityReport & KnowledgeReport;
