import { flow } from './text';

const MORE = '…';

/** brief is what matters of a value on one line: "100 per 1s", "jwt.issuerUrl: https://…", "a, b, c". What is too long ends with "…". */
export function brief(value: unknown, room = 80): string {
  const text = short(value);
  if (text.length <= room) return text;
  const parts = split(value).map(([path, leaf]) => (path ? `${path}: ${leaf}` : leaf));
  let out = '';
  for (const part of parts) {
    const longer = out ? `${out}, ${part}` : part;
    if (longer.length > room - MORE.length) break;
    out = longer;
  }
  return out ? `${out}, ${MORE}` : text.slice(0, room - MORE.length) + MORE;
}

/** isBrief is whether a short text says all that there is to a value. */
export function isBrief(value: unknown, text: string): boolean {
  return !isObject(value) && !Array.isArray(value) && text === plain(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function plain(value: unknown): string {
  return typeof value === 'string' ? (value === '' ? '""' : value.replace(/\s*\n\s*/g, ' ')) : String(value);
}

function short(value: unknown): string {
  return split(value).map(([path, leaf]) => (path ? `${path}: ${leaf}` : leaf)).join(', ');
}

const DEEP = 12; // what is deeper is shown as it is written
const MANY = 200; // parts of a value, of which a line has room for a few

/** split is the parts of a value, each with the path that leads to it. */
function split(value: unknown, path = '', depth = 0): [path: string, leaf: string][] {
  const rate = isObject(value) ? rateOf(value) : undefined;
  if (rate) return [[path, rate]];
  if (depth > DEEP) return [[path, flow(value, 60)]];
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    if (keys.length === 0) return [[path, '{}']];
    const under = (key: string): string => (keys.length === 1 && key === 'rates' ? path : path ? `${path}.${key}` : key);
    const out: [string, string][] = [];
    for (const key of keys) if (out.length < MANY) out.push(...split(value[key], under(key), depth + 1));
    return out;
  }
  if (Array.isArray(value)) return [[path, list(value, depth)]];
  return [[path, plain(value)]];
}

/** list is the entries of a list, by name where they have names. */
function list(all: unknown[], depth: number): string {
  if (all.length === 0) return '[]';
  const entries = all.slice(0, 20).map((v) => {
    if (isObject(v) && typeof v['name'] === 'string') return v['name'];
    const parts = split(v, '', depth + 1);
    return parts.slice(0, 4).map(([path, leaf]) => (path ? `${path}: ${leaf}` : leaf)).join(', ') + (parts.length > 4 ? `, ${MORE}` : '');
  });
  const text = entries.join(entries.some((e) => e.includes(', ')) ? '; ' : ', ');
  return all.length > 20 ? `${text}, ${MORE}` : text;
}

/** rateOf is "100 per 1s" of {limit: 100, window: 1s}. */
function rateOf(value: Record<string, unknown>): string | undefined {
  const { limit, window } = value;
  const scalar = (v: unknown): boolean => typeof v === 'string' || typeof v === 'number';
  return Object.keys(value).length === 2 && scalar(limit) && scalar(window) ? `${String(limit)} per ${String(window)}` : undefined;
}
