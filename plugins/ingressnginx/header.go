package ingressnginx

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// sentHeaders are the headers of a request as its backend gets them, by their names in lower case.
type sentHeaders map[string]ingress.Header

func (h sentHeaders) set(name, value string) {
	if value == "" {
		h.remove(name)
		return
	}
	h[strings.ToLower(name)] = ingress.Header{Name: name, Values: []string{value}}
}

// setIf sets a header to a value, if there is one.
func (h sentHeaders) setIf(name, value string) {
	if value != "" {
		h.set(name, value)
	}
}

// remove removes a header that the client sends. One that it does not send is not there.
func (h sentHeaders) remove(name string) {
	if _, sent := h[strings.ToLower(name)]; sent {
		h[strings.ToLower(name)] = ingress.Header{Name: name, Removed: true}
	}
}

func (h sentHeaders) sorted() []ingress.Header {
	out := make([]ingress.Header, 0, len(h))
	for _, one := range h {
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b ingress.Header) int {
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return out
}

// backendHeaders are the headers that the backend gets, as far as they are known (N42).
func (w *walk) backendHeaders() []ingress.Header {
	h := sentHeaders{}
	for _, f := range w.request.Headers {
		key := strings.ToLower(f.Name)
		switch {
		case !w.isPassed(f.Name):
			h[key] = ingress.Header{Name: f.Name, Removed: true}
		case key == "connection" || key == "upgrade":
		default:
			one := h[key]
			h[key] = ingress.Header{Name: f.Name, Values: append(one.Values, f.Value)}
		}
	}
	w.setForwarded(h)
	l := w.location
	if l.settings.basic && !w.isAuthExcepted(l) {
		h.remove("Authorization")
	}
	for _, f := range w.changed {
		h.set(f.Name, f.Value)
	}
	host := w.host
	if l.settings.vhost != "" {
		host, _ = expandVariables(l.settings.vhost, w.readVariable)
	}
	h.set("Host", host)
	h.remove("Proxy")
	w.setCertificateHeaders(h)
	if l.needsRewrite() && l.settings.prefixHeader != "" {
		value, _ := expandVariables(l.settings.prefixHeader, w.readVariable)
		h.set("X-Forwarded-Prefix", value)
	}
	w.setOwnHeaders(h)
	w.setErrorHeaders(h)
	return h.sorted()
}

// setForwarded sets what the proxy says of the client.
func (w *walk) setForwarded(h sentHeaders) {
	c := w.control.config
	forwardedFor, _ := w.readHeader(c.readText("forwarded-for-header", "X-Forwarded-For"))
	forwardedHost, _ := w.readHeader(c.readText("forwarded-host-header", "X-Forwarded-Host"))
	address := "..."
	if w.address.IsValid() {
		address = w.address.String()
	}
	id := "..."
	if sent, ok := w.readHeader("X-Request-ID"); ok && sent != "" {
		id = sent
	}
	h.set("X-Request-ID", id)
	h.set("X-Real-IP", address)
	full := address
	if c.readBoolean("use-forwarded-headers", false) && c.readBoolean("compute-full-forwarded-for", false) {
		full = "..."
		if peer := w.request.ClientAddress; peer.IsValid() {
			full = strings.TrimPrefix(forwardedFor+", "+peer.String(), ", ")
		}
	}
	h.set("X-Forwarded-For", full)
	h.set("X-Forwarded-Host", w.host)
	port := strconv.Itoa(w.port())
	if w.request.Secure {
		port = "443"
	}
	if sent, ok := w.readHeader("X-Forwarded-Port"); ok && c.readBoolean("use-forwarded-headers", false) {
		port = sent
	}
	h.set("X-Forwarded-Port", port)
	for _, name := range []string{"X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Scheme"} {
		h.set(name, w.scheme)
	}
	h.set("X-Original-Forwarded-For", forwardedFor)
	h.set("X-Original-Forwarded-Host", forwardedHost)
	if c.readBoolean("proxy-add-original-uri-header", false) {
		h.set("X-Original-URI", w.request.Path+w.query)
	}
}

// setCertificateHeaders sets what the proxy says of the client's certificate.
func (w *walk) setCertificateHeaders(h sentHeaders) {
	a, cert := &w.server.clientAuth, w.request.Certificate
	if !a.hasCA {
		return
	}
	verified := ""
	switch {
	case !w.request.Secure || a.verify == "off":
	case !cert.Shown:
		verified = "NONE"
	case cert.Trusted:
		verified = "SUCCESS"
	default:
		verified = "..."
	}
	h.set("ssl-client-verify", verified)
	h.set("ssl-client-subject-dn", w.subject())
	if w.subject() == "" {
		h.remove("ssl-client-issuer-dn")
		if a.passesOn {
			h.remove("ssl-client-cert")
		}
		return
	}
	h.set("ssl-client-issuer-dn", "...")
	if a.passesOn {
		h.set("ssl-client-cert", "...")
	}
}

// setOwnHeaders sets the headers of the ConfigMap that proxy-set-headers names.
func (w *walk) setOwnHeaders(h sentHeaders) {
	namespace, name, _ := strings.Cut(w.control.config.data["proxy-set-headers"], "/")
	o := w.control.in.Get(model.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name})
	if o == nil {
		return
	}
	for key, value := range o.Body.At("data").Fields {
		text, _ := expandVariables(value.Text(), w.readVariable)
		h.set(key, text)
	}
}

// setErrorHeaders tells a backend that answers errors what went wrong.
func (w *walk) setErrorHeaders(h sentHeaders) {
	if w.code == 0 {
		return
	}
	accept, _ := w.readHeader("Accept")
	h.set("X-Code", strconv.Itoa(w.code))
	h.setIf("X-Format", accept)
	if w.sent == "/" {
		h.set("X-Original-URI", w.request.Path+w.query)
	}
	service := w.location.service()
	if o := w.location.owner; o != nil {
		h.set("X-Namespace", o.object.Ref.Namespace)
		h.set("X-Ingress-Name", o.object.Ref.Name)
	}
	h.setIf("X-Service-Name", service.name)
	h.setIf("X-Service-Port", service.port)
}
