import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { NowMs } from '../../shared/clock.ts';
import type { AuditEntry, AuditPerson } from '../domain/audit-entry.ts';
import type { AccountId, DeliveryId } from '../domain/ids.ts';
import type { TurnClaim, TurnCommit } from '../domain/turn.ts';
import { writeEntry } from './entry-form.ts';

/** What the turn module reports about a running turn. */
interface TurnEvents {
  toolEnded(event: { turnId: DeliveryId; tool: string; outcome: string }): void;
  accessRefused(event: { turnId: DeliveryId; because: string; rule: string }): void;
  moderated(event: { turnId: DeliveryId; kind: string; by: string; isAllowed: boolean }): void;
  turnEnded(event: { turnId: DeliveryId; outcome: string; accountId?: AccountId }): void;
}

/** Facts of one running turn. */
interface Noted {
  entries: Pick<AuditEntry, 'event' | 'details'>[];
  outcome?: string;
  accountId?: AccountId;
}

/**
 * Collects what is recorded about the turns of this process: the question, its refusals and its tool runs. All of it is stored
 * by the commit of the turn (SECURITY.md audit-record), so that recording costs no round trip and a killed process loses
 * nothing of a question: the worker that answers it records it. Tool runs of an attempt that was killed are not recorded.
 */
export class TurnAudit {
  readonly #keyRing: KeyRing;
  readonly #nowMs: NowMs;
  readonly #running = new Map<DeliveryId, Noted>();

  constructor(keyRing: KeyRing, nowMs: NowMs) {
    this.#keyRing = keyRing;
    this.#nowMs = nowMs;
  }

  /** Listens to the reports of turns; all of them are passed on. */
  listen<Report extends TurnEvents>(report: Report): Report {
    const note = (turnId: DeliveryId, event: string, details: AuditEntry['details']) =>
      this.#running.get(turnId)?.entries.push({ event, details });
    return {
      ...report,
      toolEnded: (event: Parameters<Report['toolEnded']>[0]) => {
        note(event.turnId, 'tool', { tool: event.tool, outcome: event.outcome });
        report.toolEnded(event);
      },
      accessRefused: (event: Parameters<Report['accessRefused']>[0]) => {
        note(event.turnId, 'refused', { because: event.because, rule: event.rule });
        report.accessRefused(event);
      },
      moderated: (event: Parameters<Report['moderated']>[0]) => {
        if (!event.isAllowed) note(event.turnId, 'moderated', { kind: event.kind, by: event.by });
        report.moderated(event);
      },
      turnEnded: (event: Parameters<Report['turnEnded']>[0]) => {
        const noted = this.#running.get(event.turnId);
        if (noted) [noted.outcome, noted.accountId] = [event.outcome, event.accountId];
        report.turnEnded(event);
      },
    };
  }

  /** Runs a turn and adds its entries to its commit. */
  async record(claim: TurnClaim, run: () => Promise<TurnCommit>): Promise<TurnCommit> {
    const noted: Noted = { entries: [] };
    this.#running.set(claim.turnId, noted);
    try {
      const commit = await run();
      return { ...commit, audit: this.#entriesOf(claim, commit, noted) };
    } finally {
      if (this.#running.get(claim.turnId) === noted) this.#running.delete(claim.turnId);
    }
  }

  #entriesOf(claim: TurnClaim, commit: TurnCommit, { entries, outcome, accountId }: Noted): string[] {
    const newest = claim.messages.at(-1)?.message;
    const person: AuditPerson | undefined = newest && {
      platform: newest.platform,
      tenant: newest.tenant,
      app: newest.app,
      userId: newest.sender.userId,
      account: accountId,
    };
    const write = (event: string, details: AuditEntry['details']) =>
      writeEntry(this.#keyRing, { atMs: this.#nowMs(), class: 'question', event, person, details });
    const { turnId: turn } = claim;
    const ended = {
      turn,
      platform: newest?.platform,
      chat: newest?.chat.kind,
      command: newest?.slash?.word,
      outcome: commit.outcome === 'final' ? (outcome ?? 'final') : commit.outcome,
      model: fieldOf(commit, turn, 'answeredBy'),
      rule: fieldOf(commit, turn, 'rule'),
      messages: claim.messages.length,
      tokens: tokensOf(commit),
    };
    return [
      ...entries.map(({ event, details }) => write(event, { turn, ...details })),
      write(newest?.slash ? 'command' : 'question', ended),
    ];
  }
}

/** A field that the commit writes to the record of the turn. */
function fieldOf({ records }: TurnCommit, turnId: DeliveryId, name: string): string | undefined {
  const fields = records.find(({ id }) => id === turnId)?.fields ?? [];
  for (let at = 0; at < fields.length; at += 2) if (fields[at] === name) return fields[at + 1];
  return undefined;
}

function tokensOf({ usage }: TurnCommit): number | undefined {
  const [, tokens] = Object.entries(usage?.add ?? {}).find(([field]) => field.endsWith(':tokens')) ?? [];
  return tokens;
}
