package ingressnginx

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
)

// proxySetting is a setting that an annotation and a key of the ConfigMap of the same name set.
type proxySetting struct {
	name, key, otherwise string
	number               bool
	suffix               string // of its value in the canonical form
}

// proxySettings are those settings, in the order in which they are shown (N38).
var proxySettings = []proxySetting{
	{name: "bodyLimit", key: "proxy-body-size", otherwise: "1m"},
	{name: "timeouts.connect", key: "proxy-connect-timeout", otherwise: "5", number: true, suffix: "s"},
	{name: "timeouts.read", key: "proxy-read-timeout", otherwise: "60", number: true, suffix: "s"},
	{name: "timeouts.send", key: "proxy-send-timeout", otherwise: "60", number: true, suffix: "s"},
	{name: "retries.on", key: "proxy-next-upstream", otherwise: "error timeout"},
	{name: "retries.tries", key: "proxy-next-upstream-tries", otherwise: "3", number: true},
	{name: "retries.timeout", key: "proxy-next-upstream-timeout", otherwise: "0", number: true},
	{name: "buffering.response", key: "proxy-buffering", otherwise: "off"},
	{name: "buffering.request", key: "proxy-request-buffering", otherwise: "on"},
	{name: "buffering.size", key: "proxy-buffer-size", otherwise: "4k"},
	{name: "buffering.buffers", key: "proxy-buffers-number", otherwise: "4", number: true},
}

var limitPattern = regexp.MustCompile(`^[0-9]+[kKmMgG]?$`)

// readProxySettings reads sizes, times and buffers, and the limit of bodies in bytes.
func (v *annotationReader) readProxySettings() (out []ingress.Setting, bodyLimit int64) {
	size := ""
	for _, p := range proxySettings {
		s := v.readProxySetting(p)
		switch p.name {
		case "bodyLimit":
			if !limitPattern.MatchString(strings.TrimSpace(s.Value)) {
				s = ingress.Setting{Name: p.name, Value: "1m"}
			}
			bodyLimit = parseSize(strings.TrimSpace(s.Value))
		case "retries.on":
			s.Value = formatRetries(s.Value, v.control.config.readBoolean("retry-non-idempotent", false))
		case "buffering.size":
			size = s.Value
		case "buffering.buffers":
			s.Value += " " + size
		}
		out = append(out, s)
	}
	return out, bodyLimit
}

// readProxySetting reads a setting with who sets it.
func (v *annotationReader) readProxySetting(p proxySetting) ingress.Setting {
	value, state := v.readText(p.key)
	if p.number && state == present {
		if _, state = v.readInteger(p.key); state != present {
			value = ""
		}
	}
	if state == present {
		return ingress.Setting{Name: p.name, Value: value + p.suffix, Source: v.ingress.Ref, Field: v.fullName(p.key)}
	}
	c := v.control.config
	value, there := c.data[p.key]
	if there && (!p.number || isInteger(value)) {
		return ingress.Setting{Name: p.name, Value: value + p.suffix, Source: c.ref, Field: "data." + p.key}
	}
	return ingress.Setting{Name: p.name, Value: p.otherwise + p.suffix}
}

// formatRetries is when another endpoint is tried, as nginx has it.
func formatRetries(text string, nonIdempotent bool) string {
	const word = "non_idempotent"
	var out []string
	for w := range strings.FieldsSeq(text) {
		if w == word {
			nonIdempotent = true
			continue
		}
		out = append(out, w)
	}
	if nonIdempotent {
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// parseSize is a size in bytes.
func parseSize(text string) int64 {
	unit := int64(1)
	switch strings.ToLower(text[len(text)-1:]) {
	case "k":
		unit = 1 << 10
	case "m":
		unit = 1 << 20
	case "g":
		unit = 1 << 30
	}
	n, _ := strconv.ParseInt(strings.TrimRight(text, "kKmMgG"), 10, 64)
	return n * unit
}

// readProtocol reads how backends are spoken to (N37).
func (v *annotationReader) readProtocol() string {
	p, state := v.readText("backend-protocol")
	if state != present {
		return "HTTP"
	}
	return strings.ToUpper(p)
}

// formatProtocol is a protocol as the proxy writes it before the name of a backend.
func formatProtocol(protocol string) string {
	switch protocol {
	case "AUTO_HTTP":
		return "$scheme://"
	case "HTTPS", "GRPC", "GRPCS":
		return strings.ToLower(protocol) + "://"
	case "FCGI":
		return "fastcgi://"
	}
	return "http://"
}

// protocolSetting is the setting that says how backends are spoken to.
func (v *annotationReader) protocolSetting(protocol string) ingress.Setting {
	s := ingress.Setting{Name: "backendProtocol", Value: formatProtocol(protocol)}
	if _, state := v.readText("backend-protocol"); state == present {
		s.Source, s.Field = v.ingress.Ref, v.fullName("backend-protocol")
	}
	return s
}
