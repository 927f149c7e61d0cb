package expression

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// bind binds a name to a value as any expression can.
func bind(name, value, in string) string { return fmt.Sprintf("[%s].all(%s, %s)", value, name, in) }

// doubled binds b to what double makes of a again and again, and then asks.
func doubled(first, double, ask string, times int) string {
	out := bind("b", "a", ask)
	for range times {
		out = bind("a", double, out)
	}
	return bind("a", first, out)
}

func TestStepsOfWhatExpressionsMake(t *testing.T) {
	const times = 26
	for name, text := range map[string]string{
		"equal":      doubled("[1]", "a + a", "b == b", times),
		"unequal":    doubled("[1]", "a + a", "!(b != b)", times),
		"in":         doubled("[1]", "a + a", "!(2 in b)", times),
		"hidden":     doubled("[1]", "a + a", "b == b || true", times),
		"sort":       doubled("[1]", "a + a", "b.sort().size() > 0", times),
		"distinct":   doubled("[1]", "a + a", "b.distinct().size() > 0", times),
		"reverse":    doubled("[1]", "a + a", "b.reverse().size() > 0", times),
		"flatten":    doubled("[1]", "a + a", "[b].flatten().size() > 0", times),
		"slice":      doubled("[1]", "a + a", "b.slice(0, 1).size() > 0", times),
		"greatest":   doubled("[1]", "a + a", "math.greatest(b) > 0", times),
		"join":       doubled("['x']", "a + a", "b.join().size() > 0", times),
		"join texts": doubled("'x'", "[a, a].join('')", "b.size() > 0", times),
		"format":     doubled("'x'", "'%s%s'.format([a, a])", "b.size() > 0", times),
		"format all": doubled("[1]", "a + a", "'%s'.format([b]).size() > 0", times),
		"replace":    doubled("'xx'", "a.replace('x', a)", "b.size() > 0", 8),
		"nested":     doubled("[1]", "[a, a]", "b == b", times),
		"maps":       doubled("{'x': 1}", "{'x': a, 'y': a}", "b == b", times),
		"map":        doubled("[1]", "[1, 2].map(x, a)", "b == b", times),
		"sets":       doubled("[1]", "a + a", "sets.contains(b, b)", 16),
		"texts":      doubled("'x'", "a + a", "b == b", times),
		"all":        doubled("[1]", "a + a", "b.all(x, x == 1)", times),
		"pairs":      doubled("[1]", "a + a", "b.all(x, x in b)", 13),
		"patterns":   doubled("'a'", "a + a", "b.matches('^(a?){500}a{500}$')", 17),
		"range":      "lists.range(100000000).size() > 0",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			holds, err := new(Conditions).Compile(text).Holds(map[string]any{})
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %s", took)
			}
			if err == nil || !strings.Contains(err.Error(), "takes more than 500000 steps") && name != "range" {
				t.Errorf("%v, %v", holds, err)
			}
			t.Log(time.Since(start), err)
		})
	}
}

// TestStepsOfSmallExpressions tells that nothing becomes another value because it is counted.
func TestStepsOfSmallExpressions(t *testing.T) {
	doc := map[string]any{"spec": map[string]any{"list": []any{"a", "b", "c"}, "text": "abc",
		"map": map[string]any{"k": "v"}}}
	for _, text := range []string{
		"spec.list + ['d'] == ['a', 'b', 'c', 'd']",
		"spec.list.map(x, x + '!').join(',') == 'a!,b!,c!'",
		"spec.list.filter(x, x != 'b').size() == 2",
		"spec.text.matches('^a.c$') && !spec.text.matches('^b')",
		"spec.text.matches(spec.list[0] + '.*')",
		"'%s %d'.format([spec.text, 3]) == 'abc 3'",
		"spec.text.replace('b', 'xx') == 'axxc' && 'a,b'.split(',') == ['a', 'b']",
		"sets.contains(spec.list, ['a']) && math.greatest([1, 2]) == 2",
		"spec.map == {'k': 'v'} && spec.map != {'k': 'w'} && [spec.map, spec.map][1].k == 'v'",
		"spec.list.sort().reverse() == ['c', 'b', 'a'] && [1, 1].distinct() == [1]",
		"1 / 0 == 1 || true",
		"spec.list.exists_one(x, x == 'a') && lists.range(3) == [0, 1, 2]",
		doubled("['x']", "a + a", "b.size() == 4096 && 'x' in b", 12),
	} {
		if holds, err := new(Conditions).Compile(text).Holds(doc); !holds || err != nil {
			t.Errorf("%s: %v, %v", text, holds, err)
		}
	}
}
