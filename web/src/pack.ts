/** A number that stands for a value of the packed document: r >= 0 is node r, r < 0 is string -r-1. */
export type ValueRef = number;

/** The packed document, as pkg/report writes it: every distinct value once. A node refers only to nodes before it. */
export interface Packed {
  v: number;
  s: string[];
  k: number[][];
  n: unknown[][];
  root: ValueRef;
}

const OBJECT = 0;
const ARRAY = 1;

/** Pack reads values out of a packed document when they are asked for, each once. */
export class Pack {
  readonly root: ValueRef;
  private readonly made: unknown[];

  constructor(private readonly packed: Packed) {
    if (packed.v !== 1) throw new Error(`the data of this page has version ${packed.v}, and the page reads version 1`);
    this.root = packed.root;
    this.made = new Array(packed.n.length);
  }

  /** field is the value under a key of an object, undefined if there is none. */
  field(object: ValueRef | undefined, key: string): ValueRef | undefined {
    const node = object === undefined ? undefined : this.packed.n[object];
    if (node?.[0] !== OBJECT) return undefined;
    const keys = this.packed.k[node[1] as number]!;
    const { s } = this.packed;
    for (let i = 0; i < keys.length; i++) {
      if (s[keys[i]!] === key) return node[i + 2] as ValueRef;
    }
    return undefined;
  }

  /** list is the elements of an array; of anything else, none. */
  list(array: ValueRef | undefined): ValueRef[] {
    const node = array === undefined ? undefined : this.packed.n[array];
    return node?.[0] === ARRAY ? (node.slice(1) as ValueRef[]) : [];
  }

  /** text is a string; of anything else, nothing. */
  text(value: ValueRef | undefined): string {
    return value !== undefined && value < 0 ? this.packed.s[-value - 1]! : '';
  }

  /** value is the whole value. Equal values are one, and not to be changed. Objects have no prototype, so every key is only a key. */
  value<T>(ref: ValueRef | undefined): T {
    if (ref === undefined) return undefined as T;
    if (ref < 0) return this.packed.s[-ref - 1] as T;
    const known = this.made[ref];
    if (known !== undefined) return known as T;
    const made = this.make(this.packed.n[ref]!);
    this.made[ref] = made;
    return made as T;
  }

  private make(node: unknown[]): unknown {
    if (node[0] === ARRAY) return node.slice(1).map((r) => this.value(r as ValueRef));
    if (node[0] !== OBJECT) return node[1];
    const keys = this.packed.k[node[1] as number]!;
    const object = Object.create(null) as Record<string, unknown>;
    keys.forEach((key, i) => {
      object[this.packed.s[key]!] = this.value(node[i + 2] as ValueRef);
    });
    return object;
  }
}
