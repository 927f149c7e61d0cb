package linkerd

import (
	"net/netip"
	"reflect"
	"testing"
)

func TestParsePorts(t *testing.T) {
	for _, c := range []struct {
		text string
		has  []int
		not  []int
		bad  bool
	}{
		{text: "80, 90-92", has: []int{80, 90, 92}, not: []int{81, 93}},
		{text: "80,", has: []int{80}},
		{text: "", not: []int{80}},
		{text: "80,92-90", bad: true, not: []int{80}},
		{text: "0", bad: true}, {text: "65536", bad: true}, {text: "http", bad: true},
	} {
		set, err := parsePorts(c.text)
		if (err != nil) != c.bad {
			t.Errorf("%q: error %v", c.text, err)
		}
		for _, p := range c.has {
			if !set.containsPort(p) {
				t.Errorf("%q has no %d", c.text, p)
			}
		}
		for _, p := range c.not {
			if set.containsPort(p) {
				t.Errorf("%q has %d", c.text, p)
			}
		}
	}
	long, _ := parsePorts("1-65535")
	if got := long.listPorts(); got != nil {
		t.Errorf("%d ports of a long range are listed", len(got))
	}
}

func TestDuration(t *testing.T) {
	for text, good := range map[string]bool{"0": true, "10ms": true, "5s": true, "2d": true, "1.5s": false, "5": false,
		"s": false, "5y": false, "-1s": false, "": false} {
		if err := checkDuration(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRetries(t *testing.T) {
	for _, c := range []struct {
		notes map[string]string
		grpc  bool
		want  map[string]any
		bad   bool
	}{
		{notes: map[string]string{}},
		{notes: map[string]string{"retry.linkerd.io/limit": "0"}},
		{notes: map[string]string{"retry.linkerd.io/timeout": "0s", "retry.linkerd.io/http": "gateway-error"},
			want: map[string]any{"limit": int64(1), "conditions": []any{"gateway-error"}}},
		{notes: map[string]string{"retry.linkerd.io/http": "5xx"}, grpc: true},
		{notes: map[string]string{"retry.linkerd.io/grpc": "internal,unavailable", "retry.linkerd.io/limit": "3"},
			grpc: true, want: map[string]any{"limit": int64(3), "conditions": []any{"internal", "unavailable"}}},
		{notes: map[string]string{"retry.linkerd.io/http": "6xx"}, bad: true},
		{notes: map[string]string{"retry.linkerd.io/limit": "-1"}, bad: true},
	} {
		got, err := readRetries(c.notes, c.grpc)
		if (err != nil) != c.bad || !c.bad && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, %v", c.notes, got, err)
		}
	}
}

func TestLeft(t *testing.T) {
	nets := func(texts ...string) []netip.Prefix {
		var out []netip.Prefix
		for _, s := range texts {
			out = append(out, netip.MustParsePrefix(s))
		}
		return out
	}
	for _, c := range []struct {
		of     string
		except []netip.Prefix
		want   bool
	}{
		{"10.0.0.0/8", nil, true},
		{"10.0.0.0/8", nets("10.0.0.0/8"), false},
		{"10.0.0.0/8", nets("0.0.0.0/0"), false},
		{"10.0.0.0/8", nets("10.0.0.0/9", "10.128.0.0/9"), false},
		{"10.0.0.0/8", nets("10.0.0.0/9", "10.128.0.0/10"), true},
		{"10.0.0.0/8", nets("192.168.0.0/16", "fd00::/8"), true},
		{"fd00::/8", nets("fd00::/9", "fd80::/9"), false},
	} {
		if got := hasRemainder(netip.MustParsePrefix(c.of), c.except); got != c.want {
			t.Errorf("%s without %v: %v", c.of, c.except, got)
		}
	}
}
