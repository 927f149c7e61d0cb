package gatewayapi

import (
	"slices"
	"testing"
)

func TestCovers(t *testing.T) { // G16
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"", "a.example.com", true},
		{"", "*.example.com", true},
		{"a.example.com", "a.example.com", true},
		{"a.example.com", "b.example.com", false},
		{"a.example.com", "", false},
		{"*.example.com", "a.example.com", true},
		{"*.example.com", "b.a.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", ".example.com", false},
		{"*.example.com", "badexample.com", false},
		{"*.example.com", "*.example.com", true},
		{"*.example.com", "*.a.example.com", true},
		{"*.a.example.com", "*.example.com", false},
		{"a.example.com", "*.example.com", false},
	}
	for _, tt := range tests {
		if got := CoversHostname(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Covers(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

func TestIntersect(t *testing.T) { // G16
	tests := []struct {
		name, listener string
		route          []string
		want           []Hostname
	}{
		{"equal", "a.x", []string{"a.x"}, []Hostname{{"a.x", "a.x"}}},
		{"listener without hostname", "", []string{"a.x", "*.y"}, []Hostname{{"a.x", "a.x"}, {"*.y", "*.y"}}},
		{"listener wildcard covers the route's name", "*.x", []string{"b.a.x"}, []Hostname{{"b.a.x", "b.a.x"}}},
		{"listener wildcard covers a narrower one", "*.x", []string{"*.a.x"}, []Hostname{{"*.a.x", "*.a.x"}}},
		{"route wildcard covers the listener's name", "a.x", []string{"*.x"}, []Hostname{{"a.x", "*.x"}}},
		{"route wildcard covers a narrower one", "*.a.x", []string{"*.x"}, []Hostname{{"*.a.x", "*.x"}}},
		{"what does not fit is dropped, order stays", "*.x", []string{"c.x", "c.y", "x", "a.x"},
			[]Hostname{{"c.x", "c.x"}, {"a.x", "a.x"}}},
		{"nothing fits", "a.x", []string{"b.x", "*.a.x"}, nil},
	}
	for _, tt := range tests {
		if got := IntersectHostnames(tt.listener, tt.route); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
