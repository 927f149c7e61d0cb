package ingresstest

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// drawRequest draws a request, mostly to what is in the set.
func (d *drawing) drawRequest(t *testing.T) *request.Request {
	t.Helper()
	url := d.pick("http", "http", "https") + "://" + d.drawTarget() + d.pick("", "", "?q=1", "?q=/")
	r, err := request.New(d.pick("GET", "GET", "GET", "POST", "OPTIONS"), url, request.Options{Headers: d.drawHeaders()})
	if err != nil {
		t.Fatal(err)
	}
	r.ClientAddress = netip.MustParseAddr(d.pick("10.0.0.5", "198.51.100.7", "203.0.113.9"))
	if d.chance(2) {
		shown := r.Secure && d.chance(2)
		r.Certificate = request.Certificate{Shown: shown, Trusted: shown && d.chance(2)}
		if shown {
			r.Certificate.Subject = "CN=client"
		}
	}
	r.BodyBytes = []int64{0, 0, 0, 0, 0, 0, 0, 0, 100, 5000, 1 << 20, 1<<20 + 1}[d.IntN(12)]
	r.Repeat = []int{1, 1, 1, 1, 1, 200}[d.IntN(6)]
	r.Assumed = request.Assumptions{BasicAccepted: d.chance(2),
		External: []int{0, 200, 200, 204, 401, 403, 302, 500}[d.IntN(8)]}
	return &r
}

// drawTarget draws a host and a path, half of the time those of one Ingress.
func (d *drawing) drawTarget() string {
	host, path := d.pick(d.hosts...), d.pick(d.paths...)
	for _, rule := range d.c.ingresses[d.IntN(len(d.c.ingresses))].Spec.Rules {
		if rule.HTTP != nil && d.chance(2) {
			host, path = rule.Host, rule.HTTP.Paths[d.IntN(len(rule.HTTP.Paths))].Path
		}
	}
	return d.drawHost(host) + d.drawPath(path)
}

func (d *drawing) drawHost(host string) string {
	if d.chance(10) {
		host = d.pick("unknown.example.net", "alias.example.org", "one.alias.example.org", "v7.example.org",
			"www.b.example.org", "SHOP.example.com", "shop.example.com:8080", "x.y.w.example.com")
	}
	switch {
	case host == "":
		return "unknown.example.net"
	case d.chance(12) && !strings.HasPrefix(host, "*"):
		if bare, www := strings.CutPrefix(host, "www."); www {
			return bare
		}
		return "www." + host
	}
	return strings.Replace(host, "*", d.pick("q", "a"), 1)
}

// drawPath draws a path that an Ingress has or a little beside it, in several spellings.
func (d *drawing) drawPath(path string) string {
	out := strings.NewReplacer("(.*)", "one/two", "[0-9]+", "12", "(/|$)", "/", "(a|b)", "b", "[A-Z]{3}", "uuid",
		".*", "ment", "|/y", "", "(", "").Replace(path)
	if out == "" {
		out = "/"
	}
	switch d.IntN(16) {
	case 0:
		out = strings.TrimSuffix(out, "/")
	case 1, 2:
		out += d.pick("/", "x", "/x", "/x/")
	case 3:
		out = strings.ToUpper(out)
	case 4:
		out = d.pick("/zzz", "/y", "/healthz", "/")
	case 5:
		out = strings.Replace(out, "/c", d.pick("//c", "/%63", "/./c", "/q/../c"), 1) + d.pick("", "%20b", "%2Fb", ";v=1")
	}
	return "/" + strings.TrimPrefix(out, "/")
}

func (d *drawing) drawHeaders() []string {
	var out []string
	for _, one := range []choice{
		{3, "X-Next", []string{"always", "never", "blue", "red"}},
		{6, "Cookie", []string{"next=always", "a=b; next=never", "next=perhaps"}},
		{6, "Origin", []string{"https://ui.example.org", "https://ui.example.net", "https://evil/https://ui.example.org"}},
		{16, "User-Agent", []string{"BadBot/1.0", "curl"}},
		{12, "X-Forwarded-Proto", []string{"https", "http"}},
		{16, "X-Forwarded-Host", []string{"front.example.net"}},
		{16, "X-Forwarded-For", []string{"10.0.0.5", "198.51.100.7"}},
	} {
		if d.chance(one.once) {
			out = append(out, one.name+": "+d.pick(one.values...))
		}
	}
	return out
}
