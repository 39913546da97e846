import type { JudgeProof } from '../../bot/app/configuration-proof.ts';
import { probeIdentity } from './deployment-identity.ts';
import { holderOfPort } from '../../shared/http/port-holder.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { Config } from '../../bot/config/config.ts';
import { tryToListen } from '../../bot/app/take-free-ports.ts';
import { usedPorts } from '../../bot/app/used-ports.ts';
import { resultsOf } from './results-of.ts';

/** Checks that the ports are free, or used by a running Parley with the same settings. */
export async function checkPorts(config: Config, judge: JudgeProof | undefined): Promise<CheckResult[]> {
  const { ok, warning, fault } = resultsOf('Ports');
  const found: CheckResult[] = [];
  for (const { setting, port, host } of usedPorts(config)) {
    const obstacle = await tryToListen(port, host);
    if (obstacle === undefined) continue;
    if (obstacle.code !== 'EADDRINUSE') {
      found.push(fault(...describeListenError(obstacle, `${setting} ${port}`, config.http.host)));
      continue;
    }
    const whose = judge && (await probeIdentity(`http://127.0.0.1:${port}`, judge));
    if (setting === 'PORT' && whose?.reached === 'these settings')
      return [ok(`Parley runs on PORT ${port} with these settings`)];
    if (setting === 'PORT' && whose?.reached === 'other settings') {
      const detail = `Parley runs on PORT ${port} with this key, but was started with other settings`;
      return [warning(detail, 'Restart Parley')];
    }
    const detail = `${setting} ${port} is taken by ${holderOfPort(port) ?? 'another program'}`;
    found.push(
      config.mode === 'local'
        ? warning(detail, 'npm start uses the next free port and reports it')
        : fault(detail, `Stop that program, or set ${setting} to another port`),
    );
  }
  if (found.length > 0) return found;
  const free = usedPorts(config).map(({ setting, port }) => `${setting} ${port}`);
  return [ok(`free: ${free.join(', ')}`)];
}

/** Describes a free port that cannot be listened on. */
function describeListenError(
  { code }: NodeJS.ErrnoException,
  port: string,
  host: string,
): [detail: string, nextStep: string] {
  if (code === 'EACCES')
    return [`${port} requires privileges that this user does not have`, 'Choose a port above 1023'];
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const nextStep = 'Set HOST to an address of this machine, or to 0.0.0.0 for all of them';
    return [`HOST ${host} is not an address of this machine`, nextStep];
  }
  return [`cannot listen on ${port} (${code ?? 'unknown'})`, 'Choose another port'];
}
