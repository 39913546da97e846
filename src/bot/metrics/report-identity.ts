import type { Registry } from 'prom-client';
import type { IdentityReport } from '../identity/audit.ts';
import { census, counter } from './instruments.ts';

/** Only counts: the identity module writes the audit log itself, because only it knows the person's pseudonym. */
export function reportIdentity(registry: Registry): IdentityReport {
  const events = counter(registry, {
    name: 'sign_in_events_total',
    help: 'Steps of account linking',
    labels: ['platform', 'event', 'reason'],
  });
  const sealedRecords = census(registry, {
    name: 'sealed_records',
    help: 'Encrypted parts of account links by the key that they need, while SECRET_KEY_PREVIOUS is set',
    label: 'key_id',
  });
  return {
    sealedRecords,
    event: (event, { platform, reason }) => events({ platform, event, reason: reason ?? 'none' }),
  };
}
