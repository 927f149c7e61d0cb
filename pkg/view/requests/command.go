package requests

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// FormatCommand writes the curl or grpcurl command that makes a request.
func FormatCommand(r *request.Request) string {
	scheme, port := "http", int32(80)
	if r.Secure {
		scheme, port = "https", 443
	}
	if r.Protocol == request.GRPC {
		words := []string{"grpcurl"}
		if !r.Secure {
			words = append(words, "-plaintext")
		}
		for _, h := range r.Headers {
			words = append(words, "-H", h.Name+": "+h.Value)
		}
		return quoteShellLine(append(words, r.Host+":"+strconv.Itoa(int(r.Port)), r.Service+"/"+r.Call))
	}
	words := []string{"curl"}
	if r.Method != "GET" {
		words = append(words, "-X", r.Method)
	}
	for _, h := range r.Headers {
		if h.Value == "" {
			words = append(words, "-H", h.Name+";")
		} else {
			words = append(words, "-H", h.Name+": "+h.Value)
		}
	}
	if strings.Contains(r.Path, "/.") {
		words = append(words, "--path-as-is")
	}
	to := scheme + "://" + r.Host
	if r.Port != port {
		to += ":" + strconv.Itoa(int(r.Port))
	}
	to += r.Path
	for i, q := range r.Query {
		to += string("?&"[min(i, 1)]) + url.QueryEscape(q.Name) + "=" + url.QueryEscape(q.Value)
	}
	if strings.ContainsAny(to, "[]{}") {
		words = append(words, "-g")
	}
	return quoteShellLine(append(words, to))
}

// FormatCircumstances says in words what a command that makes a request cannot: who sends it, and with
// which credentials.
func FormatCircumstances(r *request.Request) string {
	c := &r.Circumstances
	var out []string
	if c.ClientAddress.IsValid() {
		out = append(out, "from "+c.ClientAddress.String())
	}
	switch {
	case c.Certificate.Shown && c.Certificate.Trusted:
		out = append(out, "with a trusted client certificate")
	case c.Certificate.Shown:
		out = append(out, "with a client certificate that is not trusted")
	}
	if c.Assumed.Credentials || c.Assumed.BasicAccepted {
		out = append(out, "with credentials that are accepted")
	}
	if c.BodyBytes > 0 {
		out = append(out, "with a body of "+strconv.FormatInt(c.BodyBytes, 10)+" bytes")
	}
	return strings.Join(out, ", ")
}

func quoteShellLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = view.QuoteShellWord(w)
	}
	return strings.Join(out, " ")
}
