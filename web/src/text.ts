import type { Origin, Ref, Source } from './types';

/** fullName is namespace/name, or the name of what is in no namespace. */
export function fullName(ref: Ref): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

/** objectName is "httproute/shop/cart", as commands write objects and read them. */
export function objectName(ref: Ref): string {
  return `${ref.kind.toLowerCase()}/${fullName(ref)}`;
}

/** targetName is "httproute/shop/cart/checkout". */
export function targetName(ref: Ref): string {
  const port = ref.port === undefined ? '' : ` port ${ref.port}`;
  return (ref.section ? `${objectName(ref)}/${ref.section}` : objectName(ref)) + port;
}

/** isRule is whether something is a rule of a route. */
export function isRule(ref: Pick<Ref, 'kind' | 'section'>): boolean {
  return ref.section !== undefined && ref.section !== '' && ref.kind.endsWith('Route');
}

/** groupKind is "AuthPolicy.example.com". */
export function groupKind(ref: Ref): string {
  return ref.group ? `${ref.kind}.${ref.group}` : ref.kind;
}

/** nodeID is the id that a drawing gives the node of an object. */
export function nodeID(ref: Ref): string {
  return `${groupKind(ref)}/${fullName(ref)}${ref.section ? '#' + ref.section : ''}`;
}

export function sameObject(a: Ref, b: Ref): boolean {
  return a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '') && a.group === b.group;
}

export function sameTarget(a: Ref, b: Ref): boolean {
  return sameObject(a, b) && (a.section ?? '') === (b.section ?? '');
}

/** originText is file:line, or the cluster. */
export function originText(origin: Origin | undefined): string {
  if (!origin) return '';
  if (!origin.file) return origin.cluster ? `cluster ${origin.cluster}` : '';
  return origin.line ? `${origin.file}:${origin.line}` : origin.file;
}

/** sourceName names who set something: a policy, a part of one, or what no policy wrote. */
export function sourceName(source: Source): string {
  const name = source.policy ? fullName(source.policy) : '';
  if (source.builtin) return name ? `${source.builtin} of ${name}` : source.builtin;
  return source.part ? `${name} ${source.part}` : name;
}

/** counted is "1 rule", "2 rules". */
export function counted(n: number, noun: string): string {
  if (n === 1) return `1 ${noun}`;
  const many = noun.endsWith('y') ? noun.slice(0, -1) + 'ies' : noun + (/(?:s|ch)$/.test(noun) ? 'es' : 's');
  return `${grouped(n)} ${many}`;
}

/** isWhole is whether a short form says all that there is to a value. */
export function isWhole(value: unknown, short: string): boolean {
  return (value === null || typeof value !== 'object') && short === String(value);
}

/** grouped is a number with its thousands set apart, the same in every locale. */
export function grouped(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ' ');
}

/** kindName is a policy kind without its group. */
export function kindName(policyKind: string): string {
  const dot = policyKind.indexOf('.');
  return dot < 0 ? policyKind : policyKind.slice(0, dot);
}

const plainScalar = /^[A-Za-z0-9_/.](?:[\w ./@*+$%=()-]|:(?! |$))*$/;
const otherThanText = /^(?:true|false|null|yes|no|on|off|y|n|[\d.:_+-]+(?:e[\d+-]+)?|0[xo][\da-f_]+|\.(?:inf|nan)|\d{4}-\d.*)$/i;

/** scalar quotes what a reader of YAML would take for something else than this text. */
function scalar(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  return plainScalar.test(value) && !otherThanText.test(value) && value === value.trim() ? value : JSON.stringify(value);
}

/** flow is a JSON value on one line in YAML's flow style, keys sorted, cut after about `room` characters. */
export function flow(value: unknown, room = Infinity): string {
  let out = '';
  const write = (v: unknown): void => {
    if (out.length > room) return;
    if (Array.isArray(v)) {
      out += '[';
      v.forEach((item, i) => {
        if (i > 0 && out.length <= room) out += ', ';
        write(item);
      });
      out += ']';
    } else if (v !== null && typeof v === 'object') {
      out += '{';
      Object.keys(v).sort().forEach((key, i) => {
        if (out.length > room) return;
        out += `${i > 0 ? ', ' : ''}${scalar(key)}: `;
        write((v as Record<string, unknown>)[key]);
      });
      out += '}';
    } else {
      out += scalar(v);
    }
  };
  write(value);
  return out.length > room ? out.slice(0, room - 1) + '…' : out;
}

/** block is a JSON value as YAML of several lines, keys sorted. */
export function block(value: unknown, indent = ''): string {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `${indent}- ${nested(item, indent + '  ').trimStart()}`).join('\n');
  }
  if (value !== null && typeof value === 'object' && Object.keys(value).length > 0) {
    const object = value as Record<string, unknown>;
    return Object.keys(object).sort().map((key) => {
      const child = object[key];
      const deep = child !== null && typeof child === 'object' && Object.keys(child).length > 0;
      const inner = deep && Array.isArray(child) ? indent : indent + '  ';
      return deep ? `${indent}${scalar(key)}:\n${nested(child, inner)}` : `${indent}${scalar(key)}: ${leaf(child, indent + '  ')}`;
    }).join('\n');
  }
  return indent + leaf(value, indent + '  ');
}

function nested(value: unknown, indent: string): string {
  return value !== null && typeof value === 'object' ? block(value, indent) : leaf(value, indent);
}

function leaf(value: unknown, indent: string): string {
  if (typeof value === 'string' && /^[^\s][^\r\u0000-\u0009\u0085\u2028\u2029]*\n[^\r\u0000-\u0009\u0085\u2028\u2029]*$/.test(value) && value.endsWith('\n') && !value.endsWith('\n\n')) {
    return '|\n' + value.slice(0, -1).split('\n').map((line) => (line ? indent + line : '')).join('\n');
  }
  if (Array.isArray(value)) return '[]';
  if (value !== null && typeof value === 'object') return '{}';
  return scalar(value);
}
