import type { PlatformDescription } from '../platforms/description.ts';
import { PLATFORMS } from '../platforms/registry.ts';
import { fault, type Fault } from './fault.ts';
import type { Given } from './mode.ts';

/** Reports platform settings that are set without the other settings they require. */
export function neededBeside({ given }: { given: Given }): Fault[] {
  const set: ReadonlySet<string> = given;
  return PLATFORMS.flatMap(({ needs = {} }: PlatformDescription) =>
    Object.entries(needs).flatMap(([name, others]) => {
      const absent = set.has(name) ? others.filter((other) => !set.has(other)) : [];
      return absent.length === 0
        ? []
        : [fault(name, `requires ${absent.join(' and ')}: set ${absent.length === 1 ? 'it' : 'them'} too`)];
    }),
  );
}
