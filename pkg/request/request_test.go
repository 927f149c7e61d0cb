package request

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestNew: what a request is, by how it is typed.
func TestNew(t *testing.T) {
	for _, c := range []struct {
		name string
		ask
		want string // fields that matter, as facts writes them
	}{
		{"plain", ask{method: "GET", url: "http://shop.example.com/cart"},
			"HTTP shop.example.com:80 host=shop.example.com path=/cart"},
		{"no scheme", ask{method: "GET", url: "shop.example.com"},
			"HTTP shop.example.com:80 host=shop.example.com path=/"},
		{"no scheme, a port", ask{method: "GET", url: "shop.example.com:8080/x"},
			"HTTP shop.example.com:8080 host=shop.example.com path=/x"},
		{"https", ask{method: "GET", url: "HTTPS://Shop.Example.com"},
			"HTTP tls shop.example.com:443 host=shop.example.com sni=shop.example.com path=/"},
		{"https with a port", ask{method: "GET", url: "https://shop.example.com:8443/"},
			"HTTP tls shop.example.com:8443 host=shop.example.com sni=shop.example.com path=/"},
		{"websockets", ask{method: "GET", url: "wss://shop.example.com/ws"},
			"HTTP tls shop.example.com:443 host=shop.example.com sni=shop.example.com path=/ws"},
		{"IPv4", ask{method: "GET", url: "http://10.0.0.7/"}, "HTTP 10.0.0.7:80 host=10.0.0.7 path=/"},
		{"IPv6", ask{method: "GET", url: "http://[2001:db8::1]:8080/a"},
			"HTTP 2001:db8::1:8080 host=2001:db8::1 path=/a"},
		{"address with a Host", ask{method: "GET", url: "https://10.0.0.7/a",
			Options: Options{Headers: []string{"Host: Shop.example.com:8443"}}},
			"HTTP tls 10.0.0.7:443 host=shop.example.com sni=shop.example.com path=/a"},
		{"Host over TLS keeps the server name", ask{method: "GET", url: "https://shop.example.com/",
			Options: Options{Headers: []string{"hOsT:api.example.com"}}},
			"HTTP tls shop.example.com:443 host=api.example.com sni=shop.example.com path=/"},
		{"IPv6 in Host", ask{method: "GET", url: "http://shop/",
			Options: Options{Headers: []string{"Host: [::1]:80"}}}, "HTTP shop:80 host=::1 path=/"},
		{"server name", ask{method: "GET", url: "https://shop.example.com/", Options: Options{SNI: "API.example.com"}},
			"HTTP tls shop.example.com:443 host=shop.example.com sni=api.example.com path=/"},
		{"path as it is written", ask{method: "GET", url: "http://h/a%2Fb//./c/../%41?x=%20y&x=+z&flag#frag/?"},
			"HTTP h:80 host=h path=/a%2Fb//./c/../%41 query=x: y,x: z,flag:"},
		{"query without a path", ask{method: "GET", url: "http://h?a=1/2"}, "HTTP h:80 host=h path=/ query=a:1/2"},
		{"broken escape in the query", ask{method: "GET", url: "http://h/?a=%zz"},
			"HTTP h:80 host=h path=/ query=a:%zz"},
		{"headers in order", ask{method: "GET", url: "http://h/",
			Options: Options{Headers: []string{"X-B:  1 ", "x-a:2:3", "e:"}}},
			"HTTP h:80 host=h path=/ headers=X-B:1,x-a:2:3,e:"},
		{"gRPC", ask{method: "GET", url: "http://api.example.com/ignored?q=1",
			Options: Options{GRPC: "shop.Cart/Add"}},
			"gRPC api.example.com:80 host=api.example.com call=shop.Cart/Add path=/shop.Cart/Add"},
		{"gRPC with a slash in front", ask{method: "GET", url: "grpcs://api.example.com",
			Options: Options{GRPC: "/shop.Cart/Add"}},
			"gRPC tls api.example.com:443 host=api.example.com sni=api.example.com call=shop.Cart/Add path=/shop.Cart/Add"},
		{"TLS", ask{method: "GET", url: "tls://db.example.com", Options: Options{Protocol: "tls"}},
			"TLS db.example.com:443 host=db.example.com sni=db.example.com"},
		{"TLS on a port", ask{method: "GET", url: "db.example.com:5432", Options: Options{Protocol: "TLS",
			SNI: "x.example.com"}}, "TLS db.example.com:5432 host=db.example.com sni=x.example.com"},
		{"TCP", ask{method: "GET", url: "tcp://db.example.com:5432", Options: Options{Protocol: "TCP"}},
			"TCP db.example.com:5432 host=db.example.com"},
		{"mesh", ask{method: "GET", url: "http://cart.shop:8080/", Options: Options{From: "web"}},
			"HTTP cart.shop:8080 host=cart.shop from=web path=/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(c.method, c.url, c.Options)
			if err != nil {
				t.Fatal(err)
			}
			if got := facts(&r); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func facts(r *Request) string {
	s := string(r.Protocol)
	if r.Secure {
		s += " tls"
	}
	s += fmt.Sprintf(" %s:%d host=%s", r.Address, r.Port, r.Host)
	if r.Secure || r.Protocol == TLS {
		s += " sni=" + r.SNI
	}
	if r.From != "" {
		s += " from=" + r.From
	}
	if r.Service != "" {
		s += " call=" + r.Service + "/" + r.Call
	}
	if r.Protocol == HTTP || r.Protocol == GRPC {
		s += " path=" + r.Path
	}
	for _, list := range []struct {
		name   string
		fields []Field
	}{{"query", r.Query}, {"headers", r.Headers}} {
		var all []string
		for _, f := range list.fields {
			all = append(all, f.Name+":"+f.Value)
		}
		if all != nil {
			s += " " + list.name + "=" + strings.Join(all, ",")
		}
	}
	return s
}

// TestNewRefuses: descriptions that mean no request are the user's errors, with a hint.
func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		ask
		want string
	}{
		{ask{url: ""}, "names no host"},
		{ask{url: "/cart"}, "names no host"},
		{ask{url: "http:///cart"}, "names no host"},
		{ask{url: "http://[::1/"}, "is not a URL"},
		{ask{url: "http://h:port/"}, "is not a URL"},
		{ask{url: "ftp://h/"}, `unknown URL scheme "ftp"`},
		{ask{url: "http://h:0/"}, `"0" is not a port`},
		{ask{url: "http://h:65536/"}, `"65536" is not a port`},
		{ask{url: "http://h/", Options: Options{Headers: []string{"no colon"}}}, `"no colon" is not a header`},
		{ask{url: "http://h/", Options: Options{Headers: []string{": 1"}}}, `": 1" is not a header`},
		{ask{url: "http://h/", Options: Options{GRPC: "Add"}}, `"Add" is not a gRPC service and method`},
		{ask{url: "http://h/", Options: Options{GRPC: "shop.Cart/"}}, "is not a gRPC service and method"},
		{ask{url: "http://h/", Options: Options{GRPC: "a/b", Protocol: "TLS"}}, "cannot be given together"},
		{ask{url: "http://h/", Options: Options{Protocol: "HTTP"}}, `unknown protocol "HTTP"`},
		{ask{url: "http://h/", Options: Options{Protocol: "QUIC"}}, `unknown protocol "QUIC"`},
	} {
		t.Run(c.String(), func(t *testing.T) {
			_, err := New(c.method, c.url, c.Options)
			var use *UsageError
			if !errors.As(err, &use) || !strings.Contains(err.Error(), c.want) || use.Hint == "" {
				t.Errorf("got %v, want %q with a hint", err, c.want)
			}
		})
	}
}

// TestText: a request in one line, which is what several answers are told apart by.
func TestText(t *testing.T) {
	for _, c := range []struct {
		ask
		want string
	}{
		{ask{method: "GET", url: "http://shop/cart?a=1&b=2"}, "GET http://shop/cart?a=1&b=2"},
		{ask{method: "GET", url: "https://[::1]:8443/"}, "GET https://[::1]:8443/"},
		{ask{method: "POST", url: "https://10.0.0.1/", Options: Options{Headers: []string{"Host: a.com", "X: 1"}}},
			"POST https://10.0.0.1/, Host a.com, X: 1"},
		{ask{method: "GET", url: "https://a.com/", Options: Options{SNI: "b.com"}},
			"GET https://a.com/, server name b.com"},
		{ask{url: "https://a.com", Options: Options{GRPC: "s/m"}}, "gRPC s/m at https://a.com"},
		{ask{url: "tcp://db:5432", Options: Options{Protocol: "TCP"}}, "TCP connection to db:5432"},
		{ask{method: "GET", url: "http://cart", Options: Options{From: "web"}}, "GET http://cart/, from namespace web"},
	} {
		r, err := New(c.method, c.url, c.Options)
		if err != nil || r.Text != c.want {
			t.Errorf("got %q, %v, want %q", r.Text, err, c.want)
		}
	}
}

// FuzzNew: no description of a request panics, and what is accepted has a host, a port and a path.
func FuzzNew(f *testing.F) {
	f.Add("GET", "http://[::1]:80/a%2f?x=1#f", "Host: a:1", "s/m", "TLS")
	f.Add("", "::", "", "", "")
	f.Fuzz(func(t *testing.T, method, url, header, grpc, protocol string) {
		r, err := New(method, url, Options{Headers: []string{header}, GRPC: grpc, Protocol: protocol})
		if err != nil {
			var use *UsageError
			if !errors.As(err, &use) {
				t.Errorf("%q: %v is no usage error", url, err)
			}
			return
		}
		if r.Address == "" || r.Port < 1 || !strings.HasPrefix(r.Path, "/") || r.Text == "" {
			t.Errorf("%q gives %+v", url, r)
		}
	})
}
