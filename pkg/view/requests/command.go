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

func quoteShellLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = view.QuoteShellWord(w)
	}
	return strings.Join(out, " ")
}
