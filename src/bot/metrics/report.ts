import type { ChatReport } from '../model/chat-types.ts';
import type { IdentityReport } from '../identity/audit.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { KnowledgeReport } from '../knowledge/knowledge-report.ts';
import type { QueueReport } from '../queue/queue-report.ts';
import type { ReplyReport } from '../reply/reply-report.ts';
import type { TurnReport } from '../turn/turn-ports.ts';
import type { WebhookReport } from '../ingress/webhook-report.ts';

/** What the platforms' calls tell. */
interface PlatformReport {
  /** A platform takes no call of ours until the operator mends the app. `code` is the platform's own word. */
  platformRefused(event: { platform: PlatformName; code: string }): void;
  /** A platform did not carry out a write. `method` and `code` are the platform's own words. */
  writeRefused(event: { platform: PlatformName; method: string; code: string; meaning: string }): void;
}

/** What turns, their replies and the platforms that show them tell. */
export type AnswerReport = TurnReport & ReplyReport & PlatformReport;

/**
 * One function for each thing worth knowing, for all rooms of the bot. Each writes its log line and moves its counters,
 * so that the two cannot drift apart. Ids go to the log only, small sets to labels; message text and tokens go nowhere.
 */
export type Report = WebhookReport & AnswerReport & QueueReport & ChatReport & IdentityReport & KnowledgeReport;
