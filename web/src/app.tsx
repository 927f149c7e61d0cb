import { Component, type ComponentChildren, type JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { PageContext, current, onMove, usePage } from './context';
import type { Doc } from './doc';
import { OverriddenView } from './overridden';
import { Overview } from './overview';
import { Choice, Place, Severity } from './parts';
import { ProblemsView } from './problems';
import { ProxiesView } from './proxies';
import { RuleView, Unknown } from './rule';
import { RulesView } from './rules';
import type { Rows } from './rows';
import { StatusView } from './status';
import { counted, grouped } from './text';
import { visible } from './visible';
import { type Theme, apply, store, stored } from './theme';

/** The page. */
export function App({ doc, rows, picture }: { doc: Doc; rows: Rows; picture: HTMLElement }): JSX.Element {
  const [route, setRoute] = useState(current);
  const [printing, setPrinting] = useState(false);
  const [said, say] = useSaid();
  const late = useLate();
  useEffect(() => onMove(() => setRoute(current())), []);
  usePrinting(setPrinting);
  const [theme, setTheme] = useState<Theme>(stored);
  useLayoutEffect(() => apply(printing ? 'light' : theme), [theme, printing]);
  const place = [route.view, ...route.path].join('/');
  useFocus(place);
  useEffect(() => {
    const view = document.querySelector(route.view === 'node' ? '#panel' : '#heading')?.textContent;
    document.title = visible(view ? `${view} – ${doc.title}` : doc.title);
  }, [place]);
  return (
    <PageContext.Provider value={{ doc, rows, route, printing, late, say }}>
      <a class="skip" href="#main" onClick={toMain}>Skip to the content</a>
      <Header theme={theme} change={(t) => { store(t); setTheme(t); }} />
      <main id="main" class={`view-${route.view || 'overview'}`}>
        {!doc.complete && <Incomplete />}
        <Fence key={route.view === 'node' ? '' : place}><View picture={picture} /></Fence>
      </main>
      <footer>Made by kubectl-dopolicy{doc.version && ` ${doc.version}`}. This file is the whole report: it loads nothing and sends nothing.</footer>
      <div class="offscreen" role="status" aria-live="polite">{said}</div>
    </PageContext.Provider>
  );
}

function View({ picture }: { picture: HTMLElement }): JSX.Element {
  const { doc, route } = usePage();
  switch (route.view) {
    case '':
    case 'node':
      return <Overview picture={picture} />;
    case 'rules':
      return <RulesView />;
    case 'rule':
      return <RuleView />;
    case 'overridden':
      return <OverriddenView />;
    case 'problems':
      return <ProblemsView />;
    case 'status':
      return <StatusView />;
    case 'proxies':
      if (doc.audited) return <ProxiesView />;
  }
  return <Unknown what={[route.view, ...route.path].join('/')} search={route.path.at(-1) ?? ''} />;
}

/** Fence keeps a mistake in one view from taking the page with it. */
class Fence extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  render(): ComponentChildren {
    if (this.state.error === undefined) return this.props.children;
    return <><h1 id="heading" tabIndex={-1}>This view cannot be shown</h1><p>{String(this.state.error)}</p><p><a href="#/">Overview</a></p></>;
  }
}

function Header({ theme, change }: { theme: Theme; change: (theme: Theme) => void }): JSX.Element {
  const { doc } = usePage();
  return (
    <header>
      <div class="about">
        <p class="title">{doc.title}</p>
        <p class="inputs dim">{about(doc)}</p>
      </div>
      <Nav />
      <Choice label="Theme" value={theme} all={[['auto', 'auto'], ['light', 'light'], ['dark', 'dark']]} change={(t) => change(t as Theme)} />
    </header>
  );
}

function about(doc: Doc): string {
  const most = 4;
  const names = doc.inputs.slice(0, most).join(', ') + (doc.inputs.length > most ? ` and ${doc.inputs.length - most} more` : '');
  return [names, ...doc.scope, doc.redacted ? 'values left out' : '', doc.complete ? '' : 'not complete'].filter(Boolean).join(' · ');
}

function Nav(): JSX.Element {
  const { doc, rows, route, late } = usePage();
  const views: [view: string, text: string, count: number | undefined, also: string[]][] = [
    ['', 'Overview', undefined, ['node']],
    ['rules', 'Rules', late ? rows.ruleCount() : rows.rules(), ['rule']],
    ['overridden', 'Overridden', doc.overridden.length, []],
    ['problems', 'Problems', late ? doc.troubleRefs().length : undefined, []],
    ['status', 'Status', doc.statuses.length, []],
  ];
  if (doc.audited) views.push(['proxies', 'Proxies', undefined, []]);
  return (
    <nav aria-label="Views">
      {views.map(([view, text, count, also]) => (
        <a key={view} href={`#/${view}`} aria-current={route.view === view ? 'page' : also.includes(route.view) ? 'true' : undefined}>
          {text}{count !== undefined && <> <span class="badge">{grouped(count)}</span></>}
        </a>
      ))}
    </nav>
  );
}

function Incomplete(): JSX.Element {
  const { doc, late } = usePage();
  const missing = late ? doc.missing() : [];
  const most = 3;
  return (
    <section class="banner" aria-label="This report is not complete">
      <p><strong><span aria-hidden="true">▲ </span>This report is not complete.</strong> Something that could change its answers could not be read or evaluated.</p>
      <ul class="plain">{missing.slice(0, most).map((t, i) => <li key={i}><Severity of={t.severity} /> <Place origin={t.origin} /> {t.message}{t.hint && <span class="dim"> ({t.hint})</span>}</li>)}</ul>
      {missing.length > most && <p><a href="#/problems">{counted(missing.length - most, 'more problem')}</a></p>}
    </section>
  );
}

function toMain(e: Event): void {
  e.preventDefault();
  document.getElementById('heading')?.focus();
}

/** useLate is true once the first screen is painted. */
function useLate(): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const soon = setTimeout(() => setLate(true));
    return () => clearTimeout(soon);
  }, []);
  return late;
}

/** What is said to those who listen waits until nothing new came for a moment. */
function useSaid(): [string, (text: string) => void] {
  const [said, setSaid] = useState('');
  const wait = useRef(0);
  const say = useCallback((text: string) => {
    clearTimeout(wait.current);
    wait.current = setTimeout(() => setSaid(text), 400);
  }, []);
  return [said, say];
}

/** A view that is entered gets the focus at its heading, so that keyboards and screen readers go on from there. */
function useFocus(place: string): void {
  const before = useRef(place);
  useEffect(() => {
    if (before.current === place) return;
    const node = place.startsWith('node/');
    const within = (p: string): boolean => p === '' || p.startsWith('node/');
    const stays = within(before.current) && within(place);
    before.current = place;
    document.getElementById(node || stays ? 'panel' : 'heading')?.focus({ preventScroll: stays && matchMedia('(min-width: 60rem)').matches });
    if (!stays) scrollTo(0, 0);
  }, [place]);
}

function usePrinting(set: (printing: boolean) => void): void {
  useEffect(() => {
    const on = (): void => set(true);
    const off = (): void => set(false);
    const media = matchMedia('print');
    const change = (): void => set(media.matches);
    addEventListener('beforeprint', on);
    addEventListener('afterprint', off);
    media.addEventListener('change', change);
    change();
    return () => {
      removeEventListener('beforeprint', on);
      removeEventListener('afterprint', off);
      media.removeEventListener('change', change);
    };
  }, []);
}
