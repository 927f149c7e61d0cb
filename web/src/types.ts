// The parts of the public contract (docs/schema) that the page reads.

export interface Ref {
  group: string;
  kind: string;
  namespace?: string;
  name: string;
  section?: string;
  port?: number;
}

export interface Origin {
  file?: string;
  line?: number;
  cluster?: string;
}

export interface Problem {
  severity: string;
  code: string;
  ref?: Ref;
  origin?: Origin;
  message: string;
  hint?: string;
}

export interface Finding extends Omit<Problem, 'code'> {
  id: string;
  suppressed?: { by: string; reason?: string };
}

export interface Source {
  policy?: Ref;
  target: Ref;
  level: string;
  block?: string;
  strategy?: string;
  condition?: string;
  origin?: Origin;
  builtin?: string;
  part?: string;
}

export interface Path {
  gatewayClass?: string;
  gateway?: string;
  listenerSet?: string;
  listener?: string;
  delegatedFrom?: string[];
  delegatedRules?: string[];
  direction?: string;
  mesh?: string;
  dataplane?: string;
  destination?: string;
  hostname?: string;
  binding?: string;
}

export interface Loss extends Source {
  value: unknown;
  summary?: string; // the value in a few words
  reason: string;
  why: string;
  message: string;
  lostTo: Source[];
}

export interface RuleLoss extends Loss {
  rule: string;
}

export interface Rule {
  name: string;
  value: unknown;
  summary?: string; // the value in a few words
  sources: Source[];
  why: string;
  lost: Loss[];
}

export interface PolicyUse extends Source {
  role: string;
}

export interface Effective {
  policyKind: string;
  target: Ref;
  paths: Path[];
  spec?: unknown;
  ordered: boolean;
  rules: Rule[];
  policies: PolicyUse[];
  lost: RuleLoss[];
  profile?: string;
  id: string;
  unread?: string[];
}

export interface Overridden {
  policyKind: string;
  rule: string;
  source: Source;
  value: unknown;
  summary?: string; // the value in a few words
  target: Ref;
  paths: Path[];
  lostTo: Source[];
  reason: string;
  why: string;
  message: string;
  everywhere: boolean;
  unread?: string[];
}

/** A class of requests that a rule takes. */
export interface RuleClass {
  class: string;
  listener?: Ref;
  command: string;
  unknown?: string;
}

export interface RuleClasses {
  rule: Ref;
  classes: RuleClass[];
  more?: number;
  example?: string; // the request that is followed
  verdict?: string;
  path?: PathPoint[];
}

/** A place on the way of a request where policies let it go on or end it. */
export interface PathPoint {
  point: string;
  kind: string;
  object: Ref;
  policies: Ref[];
  verdict: string; // also "bypassed"
  because: string;
  identity?: string; // "" for none
  port?: number;
  by?: { policy: Ref; rule: string; title?: string; action: string; origin?: Origin }[];
  backend?: Ref; // of several ways
}

/** Whether a property of requests holds. */
export interface Judged {
  verdict: string;
  methods?: string[];
  by?: { object: Ref; field?: string; method?: string }[];
  because?: { code: string; object?: Ref; field?: string; message: string }[];
}

/** What requests to a rule are protected by on some paths, by property. */
export interface RuleProtection {
  rule: Ref;
  paths: Path[];
  protection: Record<string, Judged>;
}

export interface Undecided {
  why: string;
  classes: number;
  example: string;
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

export interface Ancestor {
  ancestorRef: Ref | null;
  controllerName?: string;
  conditions: Condition[];
}

export interface Difference {
  kind: string;
  ancestorRef?: Ref | null;
  target?: Ref;
  type?: string;
  predicted?: { status: string; reason?: string };
  reported?: { status: string; reason?: string; message?: string };
  message: string;
}

export interface Status {
  object: Ref;
  ancestors: Ancestor[];
  affected: Ref[];
  attachedRoutes?: number;
  supportedKinds?: string[];
  note?: string;
  verdict?: string;
  differences?: Difference[];
  remarks?: Difference[];
}

export interface GraphNode {
  id: string;
  ref: Ref;
  kind: string;
  labels: Record<string, string>;
  members?: Ref[];
}

export interface GraphEdge {
  from: string;
  to: string;
  kind: string;
  state?: string;
  count?: number;
  by?: string[];
  proxy?: string;
}
