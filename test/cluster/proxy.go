package cluster

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy stands in front of a server and breaks chosen requests. It speaks plain HTTP and asks for no credentials: everybody is its user.
type Proxy struct {
	tb     testing.TB
	url    string
	target *url.URL
	client http.RoundTripper
	passer *httputil.ReverseProxy
	decide func(r *http.Request, n int) Fault

	mu       sync.Mutex
	requests []Request
}

// Proxy starts a proxy that sends what it gets to the server as the user, "admin" or one of User. Before that, decide chooses the fault
// of each request, the n-th since the start, from 1; it is called by one goroutine at a time. With nil there are no faults. The proxy
// ends with the test.
func (c *Cluster) Proxy(user string, decide func(r *http.Request, n int) Fault) *Proxy {
	c.tb.Helper()
	config := c.Config(user)
	client, err := rest.TransportFor(config)
	if err != nil {
		c.tb.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		c.tb.Fatal(err)
	}
	p := &Proxy{tb: c.tb, target: target, client: client, decide: decide}
	p.passer = &httputil.ReverseProxy{
		Transport: client, FlushInterval: -1, // watches are to arrive at once
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
	listener := httptest.NewServer(p)
	p.url = listener.URL
	c.tb.Cleanup(func() {
		listener.CloseClientConnections() // a watch would keep the proxy from closing
		listener.Close()
	})
	return p
}

// URL is where the proxy listens.
func (p *Proxy) URL() string { return p.url }

// Kubeconfig is the path of a kubeconfig file for the proxy, as Cluster.Kubeconfig is one for the server.
func (p *Proxy) Kubeconfig(namespace string) string {
	p.tb.Helper()
	path, err := writeKubeconfig(p.tb.TempDir(), namespace, &clientcmdapi.Cluster{Server: p.url},
		&clientcmdapi.AuthInfo{})
	if err != nil {
		p.tb.Fatal(err)
	}
	return path
}

// Requests are the requests that came to the proxy so far, faulty ones included. Their verbs are those of HTTP.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// ServeHTTP handles one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := p.next(r)
	if fault.delay > 0 {
		select {
		case <-time.After(fault.delay):
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case fault.answer != nil:
		fault.answer(w)
	case fault.body != nil:
		p.spoil(fault, w, r)
	default:
		p.passer.ServeHTTP(w, r)
	}
}

// next counts a request and chooses its fault.
func (p *Proxy) next(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, Request{Verb: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		UserAgent: r.UserAgent(), Time: time.Now()})
	if p.decide == nil {
		return Fault{}
	}
	return p.decide(r, len(p.requests))
}

// spoil gets the server's answer and hands it to the fault.
func (p *Proxy) spoil(fault Fault, w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = p.target.Scheme, p.target.Host, "", ""
	answer, err := p.client.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	fault.spoil(w, answer)
}
