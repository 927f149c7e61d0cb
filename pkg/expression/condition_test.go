package expression

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

type obj = map[string]any

// toystore is a document as conditions see it.
func toystore() obj {
	return obj{"apiVersion": "v1", "kind": "Paint", "metadata": obj{"name": "p", "labels": obj{"team": "a"}},
		"spec": obj{"rules": obj{"authentication": obj{"a": int64(100)}}, "rate": 1.5,
			"list": []any{int64(1), int64(2)}, "text": "x", "none": nil}}
}

func TestCondition(t *testing.T) { // holds, does not hold, or why not
	for _, c := range []struct{ when, want string }{
		{"spec.rules.authentication.a > 50", "true"},
		{"spec.rules.authentication\n.a > 50", "true"}, // as RFC 0009 draws it
		{"spec.rules.authentication.a > 50 // CEL", "true"},
		{"self.spec.rules.authentication.a > 50", "true"},
		{"self.kind == kind && self.metadata == metadata && apiVersion == 'v1'", "true"},
		{"metadata.labels.team == 'b'", "false"},
		{"spec.rules.authentication.a + 1 == 101", "true"}, // integers are no doubles
		{"spec.rules.authentication.a / 3 == 33", "true"},
		{"spec.rate > 1 && spec.rate < 2", "true"},
		{"spec.rules.authentication.a >= 99.5", "true"},
		{"spec.rate + 1 > 2", "fails: no such overload"},
		{"spec.rules.authentication.b > 50", "missing: no such key: b"},
		{"spec.limits.a.rates.exists(r, true)", "missing: no such key: limits"},
		{"has(spec.limits)", "false"},
		{"has(spec.limits.a)", "missing: no such key: limits"},
		{"!has(spec.rules.authorization)", "true"},
		{"'authorization' in spec.rules", "false"},
		{"spec.none == null", "true"},
		{"spec.list.exists(x, x == 2)", "true"},
		{"spec.list[5] == 1", "fails: index out of bounds: 5"},
		{"spec.text", "gives string, not a boolean"},
		{"spec", "gives map, not a boolean"},
		{"spec.list.size()", "is of type int, not boolean"},
		{"'x'", "is of type string, not boolean"},
		{"null", "is of type null_type, not boolean"},
		{"", "is empty"},
		{"spec.", "does not compile: 1:6: Syntax error"},
		{"nothing == 1", "does not compile: 1:1: undeclared reference to 'nothing'"},
		{"1 / 0 == 0", "fails: division by zero"},
		{"spec.text.matches('(')", "fails: error parsing regexp"},
		{"sets.contains(spec.list, [1])", "true"},
		{"math.greatest(spec.list) == 2", "true"},
		{"spec.text.charAt(0) == 'x'", "true"},
		{strings.Repeat(" ", 20_000) + "true", "the expression has 20004 bytes, more than 16384"},
		{strings.Repeat("(", 5_000) + "true" + strings.Repeat(")", 5_000),
			"does not compile: -1:0: expression recursion limit exceeded: 64"},
		{strings.Repeat("a", 1<<20), "the expression has 1048576 bytes, more than 16384"},
		{"spec.a" + strings.Repeat(".a", 5_000), "does not compile: -1:0: max recursion depth exceeded"},
		{"true" + strings.Repeat(" && true", 1_500), "true"},
		{strings.Repeat("!", 16_000) + "true", "true"},
	} {
		cond := (&Conditions{}).Compile(c.when)
		holds, err := cond.Holds(toystore())
		got := fmt.Sprint(holds)
		switch {
		case errors.Is(err, ErrMissingField):
			got = "missing: " + strings.TrimPrefix(err.Error(), ErrMissingField.Error()+": ")
		case err != nil:
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || err != nil && holds {
			t.Errorf("%.60s: got %s, want %s", c.when, got, c.want)
		}
		if strings.Contains(got, "\n") {
			t.Errorf("%.60s: a message of several lines: %q", c.when, got)
		}
	}
}

func TestConditionOverNothing(t *testing.T) {
	for _, doc := range []any{nil, obj{}, []any{}, "x"} {
		if holds, err := (&Conditions{}).Compile("spec.a > 1").Holds(doc); holds || err == nil {
			t.Errorf("%v: %v %v", doc, holds, err)
		}
	}
}

// big is a document with a list and a map of n entries.
func big(n int) obj {
	list, entries := make([]any, n), obj{}
	for i := range list {
		list[i] = int64(i)
		entries[fmt.Sprint("k", i)] = int64(i)
	}
	return obj{"spec": obj{"l": list, "m": entries}}
}

// whatever a condition asks for, an answer comes soon: by cost, at the latest by the deadline
func TestConditionBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("timed: run by make test-hostile")
	}
	doc := big(10_000)
	for _, when := range []string{
		"spec.l.all(x, spec.l.all(y, spec.l.all(z, true)))",
		"spec.l.exists(x, spec.l.exists(y, spec.l.exists(z, false)))",
		"spec.l.map(x, spec.l.map(y, spec.l.map(z, z))).size() > 0",
		"spec.m.all(x, spec.m.all(y, spec.m[x] == spec.m[y] || true))",
		"spec.l.filter(x, spec.l.exists_one(y, y == x)).size() > 0",
		strings.Repeat("[1,2].map(x,", 60) + "x" + strings.Repeat(")", 60) + ".size() > 0",
		"lists.range(1000000000).size() > 0",
		"spec.l.sort().reverse().size() > 0",
		"'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('(a+)+$')",
		"'%.1000000000f'.format([1.5]) == ''",
		"spec.l.map(x, string(x)).join(', ').size() > 0",
	} {
		start := time.Now()
		if _, err := (&Conditions{}).Compile(when).Holds(doc); err == nil && strings.Contains(when, "spec.l.all") {
			t.Errorf("%.60s: no limit", when)
		}
		if took := time.Since(start); took > evaluationTime+time.Second {
			t.Errorf("%.60s: took %v", when, took)
		}
	}
}

func TestConditionOverALargeList(t *testing.T) {
	if holds, err := (&Conditions{}).Compile("size(spec.l) == 10000").Holds(big(10_000)); !holds || err != nil {
		t.Errorf("10,000 entries: %v %v", holds, err)
	}
	_, err := (&Conditions{}).Compile("true").Holds(big(10_001))
	if err == nil || !strings.Contains(err.Error(), "10001 entries, more than 10000") {
		t.Errorf("10,001 entries: %v", err)
	}
}

func TestConditionsShareWhatTheyMaySpend(t *testing.T) {
	var c Conditions
	dear := c.Compile("spec.l.all(x, spec.l.all(y, true))")
	if _, err := dear.Holds(big(1000)); err == nil || c.taken < maxSteps {
		t.Errorf("an evaluation at its limit spent %d: %v", c.taken, err)
	}
	if holds, err := c.Compile("true").Holds(obj{}); !holds || err != nil {
		t.Errorf("one dear condition: %v %v", holds, err)
	}
	c.taken = maxTotalSteps
	if _, err := c.Compile("true").Holds(obj{}); err == nil || !strings.Contains(err.Error(), "cost too much already") {
		t.Errorf("all is spent: %v", err)
	}
}

func TestConditionsAreSafeForConcurrentUse(t *testing.T) {
	var c Conditions
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for j := range 20 {
				cond := c.Compile(fmt.Sprintf("spec.rate > %d.0", (i+j)%4))
				if holds, err := cond.Holds(toystore()); err != nil || holds != ((i+j)%4 < 2) {
					t.Errorf("%s: %v %v", cond.Text, holds, err)
				}
			}
		})
	}
	wait.Wait()
	if first, again := c.Compile("true"), c.Compile("true"); first != again {
		t.Error("equal expressions are compiled twice")
	}
}

// tables is a document with a list of n objects.
func tables(n int) obj {
	list := make([]any, n)
	for i := range list {
		list[i] = obj{"a": int64(i), "b": fmt.Sprint(i), "c": "x", "d": "y", "e": "z"}
	}
	return obj{"spec": obj{"l": list}}
}

// the limits look on between calls only; 2,500 entries take a sixteenth of what 10,000 do
func TestConditionBombsInsideOneCall(t *testing.T) {
	if testing.Short() {
		t.Skip("timed: run by make test-hostile")
	}
	doc := tables(2_500)
	for _, when := range []string{"spec.l.distinct().size() > 0", "sets.equivalent(spec.l, spec.l)",
		"sets.intersects(spec.l, spec.l.map(x, 1))"} {
		start := time.Now()
		(&Conditions{}).Compile(when).Holds(doc)
		if took := time.Since(start); took > 2*time.Second/16 {
			t.Errorf("%s: took %v", when, took)
		}
	}
}

// texts have no limit, and what is built of them is paid for when it is there
func TestConditionBombsOfText(t *testing.T) {
	doc := obj{"spec": obj{"s": strings.Repeat("a", 10_000)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	(&Conditions{}).Compile("spec.s.replace('', spec.s).size() > 0").Holds(doc)
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 16 {
		t.Errorf("10 kB of text make %d MB; 300 kB, 1,000 times as many", mb)
	}
}

// else only the deadline ends it, and the answer depends on the machine (E6)
func TestMembershipHasACost(t *testing.T) {
	if _, err := (&Conditions{}).Compile("spec.l.all(x, x in spec.l)").Holds(big(10_000)); err == nil ||
		!strings.Contains(err.Error(), "steps") && !strings.Contains(err.Error(), "more than 250") {
		t.Errorf("50 million comparisons cost less than %d: %v", maxSteps, err)
	}
}

// a total per run (RFC 0009 §5): an evaluation pays at most its own limit
func TestOneConditionDoesNotSpendEverything(t *testing.T) {
	var c Conditions
	c.Compile("spec.l.distinct().size() > 0").Holds(big(10_000))
	if holds, err := c.Compile("true").Holds(obj{}); err != nil || !holds {
		t.Errorf("another policy's condition, after one dear call that spent %d of %d: %v", c.taken,
			maxTotalSteps, err)
	}
}

// an error whose text happens to hold the words is an error, and the answer incomplete
func TestMissingFieldIsNotReadOffTexts(t *testing.T) {
	_, err := (&Conditions{}).Compile("spec.text.matches(spec.pattern)").Holds(obj{"spec": obj{"text": "x",
		"pattern": "no such key("}})
	if err == nil || errors.Is(err, ErrMissingField) {
		t.Errorf("got %v", err)
	}
}
