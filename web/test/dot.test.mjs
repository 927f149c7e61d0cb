import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { demo, run } from './browser.mjs';

const dot = createRequire(import.meta.url)('graphlib-dot');

test('programs that split labels find kind and name on every node of the flat layout', () => {
  const graph = dot.read(run('graph', '-f', demo, '-o', 'dot', '--layout', 'flat'));
  assert.ok(graph.nodes().length > 30);
  for (const id of graph.nodes()) {
    const [kind, name, ...rest] = graph.node(id).label.split('\\n');
    assert.match(kind, /^[A-Z][A-Za-z]+$/, id);
    assert.match(name, /^[a-z0-9./#-]+$/, id);
    assert.deepEqual(rest, [], id);
  }
  for (const { v, w } of graph.edges()) assert.ok(graph.hasNode(v) && graph.hasNode(w));
});
