import type { CardView } from '../api.ts';
import { isAllowedLink } from './links.ts';
import { usePage } from './page-context.ts';

/** Content of a bot's card; its buttons are below it. */
export function Card({ card }: { card: CardView }) {
  const { title, desc, emphasis, text, facts } = card;
  return (
    <div class="card" dir="auto">
      {title !== undefined && <CardTitle title={title} url={card.url} />}
      {desc !== undefined && <p class="card-desc">{desc}</p>}
      {emphasis !== undefined && <p class="card-emphasis">{emphasis}</p>}
      {text !== undefined && <p class="card-text">{text}</p>}
      {facts && (
        <dl class="card-facts">
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** The real app opens a card's address from anywhere on the card; here only the title is a link. */
function CardTitle({ title, url }: { title: string; url: string | undefined }) {
  const { isInApp } = usePage();
  if (url === undefined || !isAllowedLink(url)) return <p class="card-title">{title}</p>;
  const way = isInApp(url) ? { 'data-in-app': true } : { target: '_blank' };
  return (
    <p class="card-title">
      <a href={url} rel="noopener noreferrer" {...way}>
        {title}
      </a>
    </p>
  );
}
