import { Avatar } from '../avatar.tsx';
import { usePage } from '../page-context.ts';
import { tourIn } from './tour-texts.ts';
import { addressOf, neighbourOf } from './neighbour.ts';

/** The first screen's choice of who to be, and a second person beside. Links, so that a tab is somebody by its address. */
export function Who() {
  const { bootstrap, person, language } = usePage();
  const say = tourIn(language);
  const beside = neighbourOf(bootstrap.people, person.id);
  return (
    <section class="who" aria-label={say('whoTitle')}>
      <h3>{say('whoTitle')}</h3>
      <ul>
        {bootstrap.people.map(({ id, name, department }) => (
          <li key={id}>
            <a href={addressOf(id)} class="who-card" aria-current={id === person.id ? 'true' : undefined}>
              <Avatar name={name} />
              <span>
                <span class="who-name">{name}</span>
                <span class="who-department">{department}</span>
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
