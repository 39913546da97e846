import { Avatar } from '../avatar.tsx';
import { usePage } from '../page-context.ts';
import { placeOf } from '../people.ts';
import { tourIn } from './tour-texts.ts';
import { addressOf, neighbourOf } from './neighbour.ts';

/**
 * The first screen's choice of a person, and a second person in another tab. Links, so that the tab's address identifies its
 * person.
 */
export function Who() {
  const { bootstrap, person, language, say: sayOfPage } = usePage();
  const say = tourIn(language);
  const beside = neighbourOf(bootstrap.people, person.id);
  return (
    <section class="who" aria-label={say('whoTitle')}>
      <h3>{say('whoTitle')}</h3>
      <ul>
        {bootstrap.people.map((one) => (
          <li key={one.id}>
            <a href={addressOf(one.id)} class="who-card" aria-current={one.id === person.id ? 'true' : undefined}>
              <Avatar name={one.name} />
              <span>
                <span class="who-name">{one.name}</span>
                <span class="who-department">{placeOf(one, sayOfPage)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {beside && (
        <p>
          {say('whoBeside')}{' '}
          <a href={addressOf(beside.id)} target="_blank" rel="noopener">
            {beside.name}
          </a>
        </p>
      )}
    </section>
  );
}
