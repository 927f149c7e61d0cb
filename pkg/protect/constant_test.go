package protect

import "testing"

func TestCoversAll(t *testing.T) {
	for _, test := range []struct {
		networks any
		want     bool
	}{
		{"0.0.0.0/0", true},
		{"10.0.0.0/8", false},
		{"10.0.0.1", false},
		{[]any{"0.0.0.0/1", "128.0.0.0/1"}, true},
		{[]any{"128.0.0.0/1", "64.0.0.0/2", "0.0.0.0/2"}, true},
		{[]any{"0.0.0.0/1", "192.0.0.0/2"}, false},
		{[]any{"10.0.0.0/8", "::/0"}, true},
		{[]any{"0.0.0.0/1", "8000::/1"}, false},
		{nil, false},
	} {
		if got := CoversAll(test.networks); got != test.want {
			t.Errorf("%v: %v", test.networks, got)
		}
	}
}
