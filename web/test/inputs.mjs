// Inputs that the demo does not have: hostile ones, and a large one.

const gateway = (extra = '') => `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
spec: {controllerName: example.com/controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: front, namespace: infra}
spec:
  gatewayClassName: class
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
${extra}`;

const route = (namespace, name, rules) => `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: ${JSON.stringify(name)}, namespace: ${JSON.stringify(namespace)}}
spec:
  parentRefs: [{name: front, namespace: infra}]
  rules:
${rules.map((r) => `  - {name: ${JSON.stringify(r)}, matches: [{path: {type: PathPrefix, value: ${JSON.stringify('/' + encodeURIComponent(r))}}}], backendRefs: [{name: ${JSON.stringify(name)}, port: 80}]}`).join('\n')}
`;

const limits = (namespace, name, target, block, values) => `---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: ${JSON.stringify(name)}, namespace: ${JSON.stringify(namespace)}}
spec:
  targetRef: ${JSON.stringify({ group: 'gateway.networking.k8s.io', ...target })}
  ${block}:
    strategy: merge
    limits: ${JSON.stringify(values)}
`;

const limit = (n) => ({ rates: [{ limit: n, window: '1m' }] });

/** What would run if a page took text for markup, script, style or an address. */
export const attacks = [
  '</script><script>window.__pwned=1</script>',
  '<img src=x onerror="window.__pwned=1">',
  '"><svg onload=window.__pwned=1>',
  "'-window.__pwned=1-'",
  'javascript:window.__pwned=1',
  '<!--<script>',
  '</style><style>*{display:none}</style>',
  ']]>&lt;b&gt;{{constructor.constructor("window.__pwned=1")()}}',
  'a\u2028b\u2029c\u202ed\u0000e\u0007f',
  'https://example.com/</title><script>window.__pwned=1</script>',
];

/** Names and values of all kinds are attacks, and a few are very long. The API server would refuse the names; a file can hold them. */
export function hostile() {
  const long = 'x'.repeat(5000) + '<b>' + 'y y '.repeat(500);
  const all = [...attacks, long, '__proto__', 'constructor', 'toString'];
  const parts = [gateway()];
  all.forEach((a, i) => {
    const key = a.slice(0, 900); // a reader of YAML takes keys up to 1024 characters
    parts.push(route(`ns-${i}`, a, [a, 'plain']));
    parts.push(limits(`ns-${i}`, a, { kind: 'HTTPRoute', name: a }, 'defaults', { [key]: limit(i), same: { ...limit(i), note: a, [key]: [a, { [key]: a }] } }));
  });
  parts.push(limits('infra', '<i>cap</i>', { kind: 'Gateway', name: 'front' }, 'overrides', { same: limit(1), [attacks[0]]: limit(2) }));
  parts.push(limits('infra', 'dangling', { kind: 'Gateway', name: attacks[1] }, 'defaults', { x: limit(1) }));
  return parts.join('').replace(/[^\x20-\x7e\n]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** `routes` routes of ten rules each in twenty namespaces: policies on the gateway, on half of the routes, and on some rules. */
export function large(routes = 1000) {
  const parts = [gateway()];
  parts.push(limits('infra', 'gateway-cap', { kind: 'Gateway', name: 'front' }, 'overrides', { cap: limit(1000) }));
  parts.push(limits('infra', 'gateway-default', { kind: 'Gateway', name: 'front' }, 'defaults', { usual: limit(100), burst: limit(10) }));
  for (let i = 0; i < routes; i++) {
    const [namespace, name] = [`team-${i % 20}`, `route-${i}`];
    parts.push(route(namespace, name, Array.from({ length: 10 }, (_, n) => `step-${n}`)));
    if (i % 2 === 0) parts.push(limits(namespace, `limits-${i}`, { kind: 'HTTPRoute', name }, 'defaults', { usual: limit(i), cap: limit(5) }));
    if (i % 5 === 0) parts.push(limits(namespace, `step-limits-${i}`, { kind: 'HTTPRoute', name, sectionName: 'step-3' }, 'defaults', { [`own-${i}`]: limit(3) }));
  }
  return parts.join('');
}

/** A route rule on which nothing is in force, beside one that has a policy. */
export function bare() {
  return gateway() + route('shop', 'cart', ['open', 'limited']) + limits('shop', 'cart', { kind: 'HTTPRoute', name: 'cart', sectionName: 'limited' }, 'defaults', { cap: limit(1) });
}

/** A Service with two workloads in a mesh, of which network policies let requests come to one. */
export function ways() {
  const workload = (name) => `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: shop}
spec: {selector: {matchLabels: {app: ${name}}}, template: {metadata: {labels: {app: ${name}, part: cart}}, spec: {containers: [{name: app, image: app}]}}}
`;
  return gateway() + route('shop', 'cart', ['all']) + workload('cart-a') + workload('cart-b') + `---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio.io/dataplane-mode: ambient}}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {clusterIP: 10.0.0.1, selector: {part: cart}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed, namespace: shop}
spec: {podSelector: {matchLabels: {app: cart-a}}, policyTypes: [Ingress]}
`;
}

/** Less than all that is needed to answer: a document that does not parse. */
export function broken() {
  return gateway() + route('shop', 'cart', ['all']) + limits('infra', 'cap', { kind: 'Gateway', name: 'front' }, 'defaults', { cap: limit(1) }) + '---\nkind: [\n';
}

/** `n` policies whose targets are missing. */
export function dangling(n) {
  return gateway() + Array.from({ length: n }, (_, i) => limits('shop', `limits-${i}`, { kind: 'HTTPRoute', name: `gone-${i}` }, 'defaults', { cap: limit(1) })).join('');
}
