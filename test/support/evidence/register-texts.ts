import type { MessengerDriver } from '../../../src/simulator/driver.ts';
import { registerText } from './harvest.ts';

/** A driver that registers the texts of people as secret before it sends them. */
export function registerTexts(driver: MessengerDriver): MessengerDriver {
  const hear = (said: Parameters<MessengerDriver['send']>[1]) =>
    registerText(typeof said === 'string' ? said : said.text);
  return {
    ...driver,
    send(personId, said) {
      hear(said);
      return driver.send(personId, said);
    },
    deliver(personId, said, copies) {
      hear(said);
      return driver.deliver(personId, said, copies);
    },
  };
}
