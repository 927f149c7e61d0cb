// Small parts that several views share. States are told by sign, word and colour, all three.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { usePage } from './context';
import { nodeLink, ruleLink } from './route';
import { block, counted, flow, fullName, grouped, isWhole, kindName, nodeID, originText, sourceName, targetName } from './text';
import type { Origin, Ref, Source } from './types';

const STATES: Record<string, { sign: string; word: string }> = {
  effective: { sign: '●', word: 'in force' },
  partial: { sign: '◐', word: 'partly in force' },
  overridden: { sign: '○', word: 'overridden' },
  idle: { sign: '⊘', word: 'condition false' },
  nowhere: { sign: '○', word: 'not in force' },
  dangling: { sign: '✕', word: 'target not found' },
  ignored: { sign: '–', word: 'ignored' },
  bare: { sign: '◌', word: 'no policy in force' },
  unknown: { sign: '?', word: 'applies to nothing' },
};

export function State({ of, word }: { of: string; word?: string }): JSX.Element {
  const state = Object.hasOwn(STATES, of) ? STATES[of]! : STATES['unknown']!;
  return (
    <span class={`state ${Object.hasOwn(STATES, of) ? of : 'unknown'}`}>
      <span aria-hidden="true">{state.sign}</span> {word ?? state.word}
    </span>
  );
}

/** The states of the graph that are called differently here. */
export function graphState(state: string): string {
  return state === 'conditionFalse' ? 'idle' : state;
}

/** The roles of policies in a stack, as states. */
export function roleState(role: string): string {
  return ({ contributing: 'effective', partial: 'partial', lost: 'overridden', ignored: 'ignored' } as Record<string, string>)[role] ?? 'unknown';
}

const SIGNS: Record<string, string> = { error: '✖', warning: '▲', info: 'i' };

export function Severity({ of, word = of }: { of: string; word?: string }): JSX.Element {
  return (
    <span class={`severity ${Object.hasOwn(SIGNS, of) ? of : 'info'}`}>
      <span aria-hidden="true">{Object.hasOwn(SIGNS, of) ? SIGNS[of] : ''}</span> {word}
    </span>
  );
}

/** A name, which may be broken after its punctuation rather than within a word. */
export function Name({ of }: { of: string }): JSX.Element {
  return <span class="name">{broken(of)}</span>;
}

const LONGEST = 300; // no name of an object is as long

export function broken(name: string, after = /(?<=[./#])(?=[^\s])/): ComponentChildren {
  const text = name.length > LONGEST ? name.slice(0, LONGEST - 1) + '…' : name;
  const parts = text.split(after);
  return parts.length < 2 || parts.length > 40 ? text : parts.map((part, i) => (i === 0 ? part : <><wbr />{part}</>));
}

/** A link to what is in force on a target, named in full. */
export function TargetLink({ target, text }: { target: Ref; text?: string }): JSX.Element {
  return <a class="name" href={ruleLink(target)}>{broken(text ?? targetName(target))}</a>;
}

/** A link to an object in the picture's panel, if it is there. At first it is taken to be there: looking takes long. */
export function NodeLink({ of, text }: { of: Ref; text?: string }): JSX.Element {
  const { doc, late } = usePage();
  const words = text ?? targetName(of);
  return !late || doc.hasNode(nodeID(of)) ? <a class="name" href={nodeLink(nodeID(of))}>{broken(words)}</a> : <Name of={words} />;
}

/** Who set something: the policy, with its kind only where that is not the one in question. */
export function From({ source, policyKind }: { source: Source; policyKind?: string }): JSX.Element {
  const { policy } = source;
  if (!policy) return <span class="dim">{sourceName(source) || '–'}</span>;
  return (
    <>
      {source.builtin ? `${source.builtin} of ` : ''}
      <NodeLink of={policy} text={policyKind !== undefined && kindName(policyKind) === policy.kind ? fullName(policy) : targetName(policy)} />
      {source.part ? ' ' + source.part : ''}
    </>
  );
}

export function Sources({ all, policyKind }: { all: Source[]; policyKind?: string }): JSX.Element {
  return <>{all.map((s, i) => <>{i > 0 && ' + '}<From source={s} policyKind={policyKind} /></>)}{all.length === 0 && '–'}</>;
}

export function Place({ origin }: { origin: Origin | undefined }): JSX.Element | null {
  const text = originText(origin);
  return text ? <span class="origin">{broken(text, /(?<=\/)/)}</span> : null;
}

const ROOM = 48; // of a value of which nobody says a summary

/** A value: in a few words, as commands say it, and on demand the whole. */
export function Value({ of, summary }: { of: unknown; summary: string | undefined }): JSX.Element {
  const { printing } = usePage();
  const [open, setOpen] = useState(false);
  const text = summary ?? flow(of, ROOM);
  const whole = isWhole(of, text);
  return (
    <>
      <code class="value">{text}</code>
      {!whole && <> <button type="button" class="more" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'less' : 'whole value'}</button></>}
      {!whole && (open || printing) && <pre class="whole" tabIndex={0} aria-label="The whole value as YAML">{block(of)}</pre>}
    </>
  );
}

/** A list that begins with some entries and shows more when it is asked to. */
export function Some<T>({ of, most = 12, noun, each }: { of: T[]; most?: number; noun: string; each: (item: T) => ComponentChildren }): JSX.Element {
  const { printing } = usePage();
  const [shown, setShown] = useState(most);
  const n = Math.min(of.length, printing ? Math.max(shown, PRINTED) : shown);
  return (
    <>
      <ul class="plain">{of.slice(0, n).map((item, i) => <li key={i}>{each(item)}</li>)}</ul>
      {n < of.length && (
        <button type="button" class="more" onClick={() => setShown(shown + 100)}>
          {of.length - n > 100 ? `100 of ${counted(of.length - n, 'more ' + noun)}` : counted(of.length - n, 'more ' + noun)}
        </button>
      )}
    </>
  );
}

/** How many rows are on a page, how many of them are painted at first, and how many are printed at most. */
export const PAGE = 100;
const FIRST = 30;
export const PRINTED = 2000;

/** The rows of a page: which ones, and the buttons to other pages. Printing shows all pages, up to a sensible number of rows. */
export function usePages(count: number, page: number): { from: number; to: number } {
  const { printing, late } = usePage();
  if (printing) return { from: 0, to: Math.min(count, PRINTED) };
  const from = Math.min(Math.max(page - 1, 0), Math.max(Math.ceil(count / PAGE) - 1, 0)) * PAGE;
  return { from, to: Math.min(count, from + (late ? PAGE : FIRST)) };
}

export function Pager({ count, from, to, turn }: { count: number; from: number; to: number; turn: (page: number) => void }): JSX.Element | null {
  const { printing } = usePage();
  if (printing) return count > to ? <p class="note">The first {grouped(to)} of {grouped(count)} rows are printed. Search or filter for the others, and print those.</p> : null;
  if (count <= PAGE) return null;
  const page = from / PAGE + 1;
  const last = Math.ceil(count / PAGE);
  return (
    <nav class="pager" aria-label="Pages of the table">
      <button type="button" disabled={page === 1} onClick={() => turn(1)}>« first</button>
      <button type="button" disabled={page === 1} onClick={() => turn(page - 1)}>‹ previous</button>
      <span>{grouped(from + 1)}–{grouped(to)} of {grouped(count)}</span>
      <button type="button" disabled={page === last} onClick={() => turn(page + 1)}>next ›</button>
      <button type="button" disabled={page === last} onClick={() => turn(last)}>last »</button>
    </nav>
  );
}

/** A box to search in. What is typed counts a moment later, so that typing is never held up. */
export function Search({ label, hint, value, change }: { label: string; hint: string; value: string; change: (text: string) => void }): JSX.Element {
  const [text, setText] = useState(value);
  const told = useRef(value);
  const wait = useRef(0);
  useEffect(() => {
    if (value !== told.current) setText((told.current = value));
  }, [value]);
  useEffect(() => () => clearTimeout(wait.current), []);
  const type = (e: { currentTarget: HTMLInputElement }): void => {
    const typed = e.currentTarget.value;
    setText(typed);
    clearTimeout(wait.current);
    wait.current = setTimeout(() => change((told.current = typed)), 25);
  };
  return (
    <label class="search">
      <span class="label">{label}</span>
      <input type="search" value={text} placeholder={hint} autocomplete="off" spellcheck={false} onInput={type} />
    </label>
  );
}

export function Choice({ label, value, all, change }: { label: string; value: string; all: [value: string, text: string][]; change: (value: string) => void }): JSX.Element {
  return (
    <label class="choice">
      <span class="label">{label}</span>
      <select value={value} onChange={(e) => change(e.currentTarget.value)}>
        {all.map(([v, text]) => <option key={v} value={v} selected={v === value}>{text}</option>)}
        {!all.some(([v]) => v === value) && <option value={value} selected>{value}</option>}
      </select>
    </label>
  );
}

/** A button that copies a text, and says whether that worked. */
export function Copy({ text, label }: { text: () => string; label: string }): JSX.Element {
  const { say } = usePage();
  const [word, setWord] = useState(label);
  useEffect(() => {
    if (word === label) return;
    const back = setTimeout(() => setWord(label), 2000);
    return () => clearTimeout(back);
  }, [word, label]);
  const copy = async (): Promise<void> => {
    const told = (await copied(text())) ? 'Copied' : 'Not allowed to copy';
    setWord(told);
    say(told);
  };
  return <button type="button" class="copy" onClick={() => void copy()}>{word}</button>;
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

/** The heading of a view, where the focus goes when the view is entered. */
export function Heading({ children }: { children: ComponentChildren }): JSX.Element {
  return <h1 id="heading" tabIndex={-1}>{children}</h1>;
}
