import type { Registry } from 'prom-client';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { QueueReport } from '../queue/queue-report.ts';
import { counter, durations, gauge, QUICK_BUCKETS_SEC } from './instruments.ts';

export function reportQueue(registry: Registry, log: Log): QueueReport {
  const count = (name: string, help: string) => {
    const add = counter(registry, { name, help });
    return (times?: number) => add({}, times);
  };
  const wakes = count('wakes_repeated_total', 'Conversations that the sweeper woke again');
  const missed = gauge(registry, {
    name: 'unreachable_partitions',
    help: 'Partitions, of 64, that the sweeper could not reach in its last round',
  });
  const fenced = count('turns_fenced_total', 'Turns that a newer run has taken over');
  const resumed = count('turns_resumed_total', 'Turns resumed after their worker died');
  const dead = count('dead_letters_total', 'Turns that the bot gave up on, with an apology');
  const stalls = count('queue_stalls_total', 'Jobs of a silent worker that were returned to the queue');
  const locks = count('lock_renewals_failed_total', 'Jobs whose locks were not renewed in time');
  const failures = count('runs_failed_total', 'Runs that failed with an error that no turn caught');
  const newer = count('newer_versions_met_total', 'Messages and wakes that wait for a newer worker');
  const keyless = count(
    'key_missing_total',
    'Times that a conversation was found waiting for a key that this process does not have',
  );
  const broken = count('messages_broken_total', 'Acknowledged messages that were altered and got an apology');
  const lostAnswers = count(
    'stored_answers_lost_total',
    'Stored answers that could not be decrypted, so that the model was asked again',
  );
  const recovered = count('events_recovered_total', 'Acknowledged messages stored again after a failover lost them');
  const bare = count(
    'accepts_kept_bare_total',
    'Acknowledged messages kept by id only because too many wait; they cannot be stored again after a failover',
  );
  const lost = count('events_lost_total', 'Acknowledged messages permanently lost in a failover');
  const pressures = counter(registry, {
    name: 'queue_pressure_changes_total',
    help: 'Changes of the queue pressure, by the new pressure',
    labels: ['pressure'],
  });
  const canaries = counter(registry, {
    name: 'canary_turns_total',
    help: 'Canary questions of this worker (CANARY_SEC): committed, late or not-stored',
    labels: ['outcome'],
  });
  const provenAt = gauge(registry, {
    name: 'canary_last_success_timestamp_seconds',
    help: 'When a canary question of this worker was last found committed; 0 until the first one, and with CANARY_SEC=0',
  });
  provenAt(0);
  const canaryWaits = durations(registry, {
    name: 'canary_wait_seconds',
    help: 'Time from the acceptance of a canary question to its claim by this worker',
    bucketsSec: QUICK_BUCKETS_SEC,
  });
  let saidOfBareMs = -Infinity;
  const saidOfKeyMs = new Map<string, number>();
  return {
    wakeRepeated({ count: times }) {
      wakes(times);
      log.info({ count: times }, 'the sweeper woke waiting conversations');
    },
    partitionsMissed({ count: partitions }) {
      missed(partitions);
      log[partitions > 0 ? 'warn' : 'info']({ partitions }, 'the sweeper cannot reach some partitions');
    },
    turnFenced({ turnId }) {
      fenced();
      log.info({ trace: turnId }, 'a newer run has taken over a turn');
    },
    turnResumed({ turnId, crashes }) {
      resumed();
      log.warn({ trace: turnId, crashes }, 'a turn resumes after its worker died');
    },
    turnQuarantined({ turnId, crashes }) {
      log.warn({ trace: turnId, crashes }, 'a turn that crashed repeatedly now runs in a quarantine process');
    },
    deadLetter({ turnId, crashes }) {
      dead();
      log.error({ trace: turnId, crashes }, 'gave up on a turn after repeated crashes, with an apology');
    },
    queueStalled() {
      stalls();
      log.warn('a job of a silent worker was returned to the queue');
    },
    lockRenewalFailed({ jobs }) {
      locks(jobs);
      log.warn({ jobs }, 'job locks were not renewed in time');
    },
    newerVersionMet({ what }) {
      newer();
      log.warn({ what }, 'a record has a version that only a newer worker can read; it waits for one');
    },
    keyMissing({ keyId, waiting }) {
      keyless();
      // Such a conversation is found about every ten seconds; one log line per minute is enough.
      const nowMs = monotonicMs();
      if (nowMs - (saidOfKeyMs.get(keyId) ?? -Infinity) < MINUTE_MS) return;
      saidOfKeyMs.set(keyId, nowMs);
      log.error(
        { keyId, conversations: waiting },
        'messages wait for a key that this process does not have: add it to SECRET_KEY_PREVIOUS (or SECRET_KEY) and restart',
      );
    },
    messagesBroken({ turnId, count: times }) {
      broken(times);
      log.error({ trace: turnId, count: times }, 'messages were altered and cannot be decrypted; they get an apology');
    },
    storedAnswerLost({ turnId }) {
      lostAnswers();
      log.warn({ trace: turnId }, 'a stored answer cannot be decrypted; the model is asked again');
    },
    eventRecovered({ deliveryId }) {
      recovered();
      log.warn({ trace: deliveryId }, 'an acknowledged message that a failover lost was stored again');
    },
    messageReducedToId() {
      bare();
      const nowMs = monotonicMs();
      if (nowMs - saidOfBareMs < MINUTE_MS) return;
      saidOfBareMs = nowMs;
      log.warn('more messages wait than can be kept for a failover; if the oldest are lost, they can only be counted');
    },
    eventLost({ deliveryId }) {
      lost();
      log.error({ trace: deliveryId }, 'a failover lost an acknowledged message');
    },
    pressureChanged({ pressure, waiting }) {
      pressures({ pressure });
      log[pressure === 'hard' ? 'warn' : 'info']({ pressure, waiting }, 'the queue pressure changed');
    },
    canaryEnded({ outcome }) {
      canaries({ outcome });
      if (outcome === 'committed') provenAt(Date.now() / SECOND_MS);
      else log.warn({ outcome }, 'a canary question was not answered: accepted questions may wait');
    },
    canaryClaimed({ waitedMs }) {
      canaryWaits({}, waitedMs);
    },
    runFailed({ error }) {
      failures();
      log.error({ error }, 'a run failed; the sweeper wakes its conversation again');
    },
  };
}
