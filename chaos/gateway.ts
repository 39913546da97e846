import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { InstanceProcess } from './instance-process.ts';

export interface Receiver {
  name: string;
  url: string;
}

/** Load balancer in front of the receivers: uses those that listen, and does not notice a frozen one. */
export interface Gateway {
  pick(): Promise<Receiver>;
}

export function createGateway(random: SeededRandom, receivers: { instance: InstanceProcess; url: string }[]): Gateway {
  return {
    async pick() {
      const giveUpAtMs = Date.now() + 1_000;
      for (;;) {
        const standing = receivers.filter(({ instance }) => instance.state === 'up' || instance.state === 'frozen');
        const drawn = random.shuffle(standing.length > 0 ? standing : receivers)[0];
        if (drawn && (standing.length > 0 || Date.now() > giveUpAtMs))
          return { name: drawn.instance.name, url: drawn.url };
        await pause(50);
      }
    },
  };
}
