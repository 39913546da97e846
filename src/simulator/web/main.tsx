import { render } from 'preact';
import { languageOfHeader } from '../../shared/text/texts.ts';
import { App } from './app.tsx';

const language = languageOfHeader(navigator.languages.join(','));
document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en';
const root = document.getElementById('root');
if (root !== null) render(<App language={language} />, root);
