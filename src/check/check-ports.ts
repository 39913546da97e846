import { askWhose, type JudgeProof } from './ask-whose.ts';
import { holderOfPort } from '../base/port-holder.ts';
import type { CheckResult } from '../platforms/platform.ts';
import type { Config } from '../settings/config.ts';
import { isFree } from '../compose/take-free-ports.ts';
import { usedPorts } from '../compose/used-ports.ts';

/** Whether a start would get its ports: free ones, or those of a Parley that runs with these settings already. */
export async function checkPorts(config: Config, judge: JudgeProof | undefined): Promise<CheckResult[]> {
  const name = 'Ports';
  const found: CheckResult[] = [];
  for (const { setting, port, host } of usedPorts(config)) {
    if (await isFree(port, host)) continue;
    const whose = judge && (await askWhose(`http://127.0.0.1:${port}`, judge));
    if (setting === 'PORT' && whose?.reached === 'these settings')
      return [{ name, verdict: 'ok', detail: `Parley runs on PORT ${port} with these settings` }];
    if (setting === 'PORT' && whose?.reached === 'other settings') {
      const detail = `Parley runs on PORT ${port} with this key, but was started with other settings`;
      return [{ name, verdict: 'warning', detail, nextStep: 'Start it again' }];
    }
    const detail = `${setting} ${port} is taken by ${holderOfPort(port) ?? 'another program'}`;
    found.push(
      config.mode === 'local'
        ? { name, verdict: 'warning', detail, nextStep: 'npm start takes the next free one, and says so' }
        : { name, verdict: 'fault', detail, nextStep: `Stop it, or set ${setting} to another port` },
    );
  }
  if (found.length > 0) return found;
  const free = usedPorts(config).map(({ setting, port }) => `${setting} ${port}`);
  return [{ name, verdict: 'ok', detail: `free: ${free.join(', ')}` }];
}
