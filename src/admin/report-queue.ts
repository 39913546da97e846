import type { Registry } from 'prom-client';
import type { Log } from '../base/log.ts';
import type { QueueReport } from '../queue/queue-report.ts';
import { counter } from './instruments.ts';

export function reportQueue(registry: Registry, log: Log): QueueReport {
  const count = (name: string, help: string) => {
    const add = counter(registry, { name, help });
    return (times?: number) => add({}, times);
  };
  const wakes = count('wakes_repeated_total', 'Conversations that the sweeper woke again');
  const fenced = count('turns_fenced_total', 'Turns that a newer run had taken over');
  const resumed = count('turns_resumed_total', 'Turns found after their worker had died');
  const dead = count('dead_letters_total', 'Turns given up with an apology');
  const stalls = count('queue_stalls_total', 'Jobs of a silent worker that went back to the queue');
  const locks = count('lock_renewals_failed_total', 'Jobs whose locks were not renewed in time');
  const failures = count('runs_failed_total', 'Runs that ended by an error which no turn caught');
  const newer = count('newer_versions_met_total', 'Messages and wakes that wait for a newer worker');
  const recovered = count('events_recovered_total', 'Acknowledged messages stored again after a failover lost them');
  const lost = count('events_lost_total', 'Acknowledged messages that a failover lost for good');
  const pressures = counter(registry, {
    name: 'queue_pressure_changes_total',
    help: 'Times that more or less waited than the limits of the queue allow, by the pressure from then on',
    labels: ['pressure'],
  });
  return {
    wakeRepeated({ count: times }) {
      wakes(times);
      log.info({ count: times }, 'the sweeper woke conversations again');
    },
    turnFenced({ turnId }) {
      fenced();
      log.info({ turnId }, 'a newer run has taken over a turn');
    },
    turnResumed({ turnId, crashes }) {
      resumed();
      log.warn({ turnId, crashes }, 'a turn is run again after its worker died');
    },
    deadLetter({ turnId, crashes }) {
      dead();
      log.error({ turnId, crashes }, 'a turn was given up with an apology');
    },
    queueStalled() {
      stalls();
      log.warn('a job of a silent worker went back to the queue');
    },
    lockRenewalFailed({ jobs }) {
      locks(jobs);
      log.warn({ jobs }, 'job locks were not renewed in time');
    },
    newerVersionMet({ what }) {
      newer();
      log.warn({ what }, 'something is of a version that only a newer worker reads; it waits for one');
    },
    eventRecovered({ deliveryId }) {
      recovered();
      log.warn({ deliveryId }, 'a failover had lost an acknowledged message; it is stored again');
    },
    eventLost({ deliveryId }) {
      lost();
      log.error({ deliveryId }, 'a failover lost an acknowledged message');
    },
    pressureChanged({ pressure, waiting }) {
      pressures({ pressure });
      log[pressure === 'hard' ? 'warn' : 'info']({ pressure, waiting }, 'the pressure of what waits has changed');
    },
    runFailed({ error }) {
      failures();
      log.error({ error }, 'a run ended by an error; the sweeper wakes its conversation again');
    },
  };
}
