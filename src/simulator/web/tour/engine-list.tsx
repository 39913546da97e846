import { useEffect, useState } from 'preact/hooks';
import type { EngineSearch, EngineView } from '../../local-controls.ts';
import { usePage } from '../page-context.ts';
import { searchEngines } from './local-api.ts';
import { tourIn, type SayTour } from './tour-texts.ts';

interface EngineListProps {
  isTrying: boolean;
  onUse(engine: EngineView): void;
}

const SHOWN_MODELS = 3;

/** Looks for chat engines on this computer when it is opened, and when the person asks again. */
export function EngineList({ isTrying, onUse }: EngineListProps) {
  const { language } = usePage();
  const say = tourIn(language);
  const [search, setSearch] = useState<EngineSearch | 'searching' | 'failed'>('searching');
  const look = () => {
    setSearch('searching');
    searchEngines().then(setSearch, () => setSearch('failed'));
  };
  useEffect(look, []);
  const engines = typeof search === 'string' ? [] : search.engines;
  return (
    <section class="engines" aria-labelledby="engines-title">
      <h3 id="engines-title">{say('engines')}</h3>
      <p role="status">{stateOf(search, say)}</p>
      {engines.length > 0 && (
        <ul>
          {engines.map((engine) => (
            <li key={engine.address}>
              <span class="engine-words">
                <strong>{nameOf(engine, say)}</strong> {hostOf(engine)}
                <span class="engine-models">{modelsOf(engine, say)}</span>
              </span>
              {engine.models.length > 0 && (
                <button
                  type="button"
                  aria-label={say('useNamed', { engine: nameOf(engine, say), host: hostOf(engine) })}
                  aria-disabled={isTrying}
                  onClick={() => isTrying || onUse(engine)}
                >
                  {say('useEngine')}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      <button type="button" aria-disabled={search === 'searching'} onClick={() => search === 'searching' || look()}>
        {say('searchAgain')}
      </button>
    </section>
  );
}

export function nameOf({ name }: EngineView, say: SayTour): string {
  return name ?? say('unknownEngine');
}

export function hostOf({ address }: EngineView): string {
  return new URL(address).host;
}

function stateOf(search: EngineSearch | 'searching' | 'failed', say: SayTour): string {
  if (search === 'searching') return say('searching');
  if (search === 'failed') return say('fault_away');
  if (search.engines.length > 0) return say('enginesFound', { count: search.engines.length });
  const listed = (isOurs: boolean) =>
    search.ports
      .filter((place) => place.isOurs === isOurs)
      .map(({ port, engine }) => (engine === undefined ? String(port) : say('enginePort', { port, engine })))
      .join(say('betweenPorts'));
  const [searched, own] = [listed(false), listed(true)];
  const sentences = [
    say('noEngines'),
    ...(searched === '' ? [] : [say('searchedPorts', { ports: searched })]),
    ...(own === '' ? [] : [say('ownPort', { ports: own })]),
  ];
  return sentences.join(say('betweenSentences'));
}

function modelsOf({ models }: EngineView, say: SayTour): string {
  const shown = models.slice(0, SHOWN_MODELS).join(say('betweenPorts'));
  if (models.length === 0) return say('noModels');
  const count = models.length - SHOWN_MODELS;
  return count > 0 ? say('moreModels', { models: shown, count }) : shown;
}
