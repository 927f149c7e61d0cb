package graph

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
)

// TestParseRequestClass: what is a class of requests, what is one request, and what is refused.
func TestParseRequestClass(t *testing.T) {
	const one = "one request"
	for _, c := range []struct{ text, want string }{
		{"shop.example.com/admin/**", "requests to shop.example.com on paths /admin/**"},
		{"Shop.Example.com/admin/**", "requests to shop.example.com on paths /admin/**"},
		{"/admin/**", "requests on paths /admin/**"},
		{"/admin", "requests on paths /admin"},
		{"post *.example.com/cart/**", "requests to *.example.com on paths /cart/** with method POST"},
		{"-X POST /cart", "requests on paths /cart with method POST"},
		{"*.example.com", "requests to *.example.com"},
		{"shop.example.com/**", "requests to shop.example.com"},
		{"*/admin", "requests on paths /admin"},
		{"*", "all requests"},
		{"/**", "all requests"},
		{"/api/*/admin", "requests on paths /api/*/admin"},
		{"-H 'x-probe: a=b' /admin", "requests on paths /admin with headers x-probe=a=b"},
		{"-H x-probe=http://a /admin", "requests on paths /admin with headers x-probe=http://a"},
		{"-H '!x-probe' /admin", "requests on paths /admin with headers !x-probe"},
		{"--gateway infra/gw --listener http /admin",
			"requests on paths /admin through Gateway infra/gw at listener http"},
		{"GET https://shop.example.com/cart", one},
		{"shop.example.com/cart", one},
		{"GET", one},
		{"", one},
		{"https://shop.example.com/?q=*", one},
		{"curl 'https://shop.example.com/a/*'", one},
		{"curl shop.example.com/*", one},
		{"--no-such-flag /x", one},
		{"https://shop.example.com/a/**", "has a scheme"},
		{"GET https://*.example.com/", "has a scheme"},
		{"/admin?x=1", "has a query"},
		{"shop.example.com/search?q=*", "has a query"},
		{"*.example.com:8080/", "has a port"},
		{"shop.*.com/x", "is not a host"},
		{"**", "is not a host"},
		{"GET POST /x", "is more than a method"},
		{"shop.example.com /admin/**", "is not a method"},
		{"*.example.com admin", "is not a method"},
		{"GET,POST /admin/**", "is not a method"},
		{"-X GET POST /admin/**", "cannot be given together"},
		{"--grpc a/b /x", "--grpc is for one request"},
		{"--expect 200 /x", "--expect is for one request"},
		{"--from-namespace a /x", "--from-namespace is for one request"},
		{"-H x /x", "is not a header"},
		{"-H 'host: a' /x", "hosts are no headers"},
	} {
		got, err := parseRequestClass(c.text)
		var use *failure.UsageError
		switch {
		case errors.As(err, &use):
			if !strings.Contains(use.What, c.want) || use.Hint == "" {
				t.Errorf("%q: got %q (%s), want %q", c.text, use.What, use.Hint, c.want)
			}
		case err != nil || got == nil && c.want != one || got != nil && got.describeRequests() != c.want:
			t.Errorf("%q: got %s, want %s", c.text, fmt.Sprint(got, err), c.want)
		}
	}
}
