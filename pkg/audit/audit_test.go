package audit

import (
	"reflect"
	"testing"
)

// TestWithin: what a setting leaves open may be anything.
func TestWithin(t *testing.T) {
	want := Value{"a": 1.0}
	for _, c := range []struct {
		found any
		same  bool
	}{{Value{"a": 1.0, "b": 2.0}, true}, {Value{"b": 2.0}, false}, {Value{"a": 2.0}, false}, {"text",
		false}, {nil, false}} {
		if IsWithin(want, c.found) != c.same {
			t.Errorf("%v within %v: %t", want, c.found, !c.same)
		}
	}
}

// TestValues: both sides are compared in one form.
func TestValues(t *testing.T) {
	if a, _ := ParseDuration("250ms"); a != "250ms" {
		t.Error(a)
	}
	if a, _ := ParseDuration("0.250s"); a != "250ms" {
		t.Error(a)
	}
	for text, want := range map[string]float64{"4Mi": 4 << 20, "1k": 1000, "65536": 65536, "1.5Ki": 1536} {
		if n, ok := ParseBytes(text); !ok || n != want {
			t.Errorf("%s is %v", text, n)
		}
	}
	if _, ok := ParseBytes("much"); ok {
		t.Error("much is a quantity")
	}
	for _, c := range []struct {
		v    map[string]any
		want float64
	}{{map[string]any{"numerator": 50.0}, 500_000}, {map[string]any{"numerator": 50.0, "denominator": "TEN_THOUSAND"},
		5000}, {map[string]any{"numerator": 50.0, "denominator": "MILLION"}, 50}} {
		if n := PartsPerMillion(c.v); n != c.want {
			t.Errorf("%v is %v", c.v, n)
		}
	}
}

// TestBeginsWith: a name goes on behind what is known only with a part of its own.
func TestBeginsWith(t *testing.T) {
	for name, want := range map[string]bool{"a.b": true, "a.b/c": true, "a.b.c": true, "a.bc": false, "x": false,
		"dir/x": true} {
		if hasBeginning(name, []string{"a.b", "dir/"}) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
	if !hasBeginning("anything", []string{""}) {
		t.Error("the empty beginning is that of any name")
	}
}

// TestRelated: a path is related to what is above and below it.
func TestRelated(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"a.b", "a", true}, {"a", "a.b.c", true}, {"a[x]", "a", true}, {"ab", "a", false}, {"a", "a", true}} {
		if isRelated(c.a, c.b) != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, !c.want)
		}
	}
}

// TestShown: users of addresses and values of parameters are compared and not told; what only looks
// like them is.
func TestShown(t *testing.T) {
	in := Value{"uri": "https://user:pass@example.com/keys?token=abc&n=1", "list": []string{"/check?token=abc"},
		"any":  []any{"https://www.example.com", 1.0, Value{"origin": "https://(.*)?example.com"}},
		"none": []string(nil)}
	want := Value{"uri": "https://…@example.com/keys?token=…&n=…", "list": []string{"/check?token=…"},
		"any":  []any{"https://www.example.com", 1.0, Value{"origin": "https://(.*)?example.com"}},
		"none": []string(nil)}
	if got := hideCredentials(in); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
