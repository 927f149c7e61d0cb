package lint

import "testing"

func TestShareHosts(t *testing.T) {
	for _, tt := range []struct {
		ofIngress, ofRoute string
		want               bool
	}{
		{"a.example.com", "a.example.com", true},
		{"a.example.com", "b.example.com", false},
		{"a.example.com", "*.example.com", true},
		{"a.b.example.com", "*.example.com", true},
		{"example.com", "*.example.com", false},
		{"*.example.com", "*.example.com", true},
		{"*.b.example.com", "*.example.com", true},
		{"*.example.com", "a.example.com", true},
		{"*.example.com", "a.b.example.com", false},
		{"*.example.com", "*.b.example.com", false},
		{"*.example.com", "example.com", false},
	} {
		if got := shareHosts(tt.ofIngress, tt.ofRoute); got != tt.want {
			t.Errorf("%s and %s share a host: %v", tt.ofIngress, tt.ofRoute, got)
		}
	}
}
