import type { Registry } from 'prom-client';
import type { IdentityReport } from '../identity/audit.ts';
import { counter } from './instruments.ts';

/** The identity room writes its audit line itself, since only it knows the person's pseudonym; here it is counted. */
export function reportIdentity(registry: Registry): IdentityReport {
  const events = counter(registry, {
    name: 'sign_in_events_total',
    help: 'Steps of linking accounts',
    labels: ['platform', 'event', 'reason'],
  });
  return {
    event: (event, { platform, reason }) => events({ platform, event, reason: reason ?? 'none' }),
  };
}
