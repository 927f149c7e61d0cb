package linkerd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The annotations of Services, EgressNetworks and routes that are read.
const (
	retryNote   = "retry.linkerd.io/"
	timeoutNote = "timeout.linkerd.io/"
	accrualNote = "balancer.linkerd.io/failure-accrual"
	alphaNote   = "balancer.alpha.linkerd.io/"
)

// duration reports whether a text is a duration to Linkerd: a whole number with a unit, or 0.
func duration(text string) error {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := text[len(number):]
	if _, err := strconv.ParseUint(number, 10, 64); err != nil || !slices.Contains([]string{"ms", "s", "m", "h", "d"}, unit) && !(unit == "" && strings.Trim(number, "0") == "") {
		return fmt.Errorf("%q is no duration: it takes a whole number with ms, s, m, h or d", text)
	}
	return nil
}

func zero(text string) bool {
	return strings.Trim(strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz"), "0") == ""
}

// retries reads the block of retries; nil: there is none. Conditions are those of HTTP or of gRPC.
func retries(notes map[string]string, grpc bool) (map[string]any, error) {
	out := map[string]any{}
	if text, ok := notes[retryNote+"limit"]; ok {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%slimit: %q is no number of retries", retryNote, text)
		}
		if n > 0 {
			out["limit"] = int64(n)
		}
	}
	if text, ok := notes[retryNote+"timeout"]; ok {
		if err := duration(text); err != nil {
			return nil, fmt.Errorf("%stimeout: %w", retryNote, err)
		}
		if !zero(text) {
			out["timeout"] = text
		}
	}
	key, valid := retryNote+"http", httpCondition
	if grpc {
		key, valid = retryNote+"grpc", grpcCondition
	}
	if text, ok := notes[key]; ok {
		var words []any
		for _, word := range strings.Split(text, ",") {
			word = strings.TrimSpace(word)
			if !valid(word) {
				return nil, fmt.Errorf("%s: %q is no condition", key, word)
			}
			words = append(words, word)
		}
		out["conditions"] = words
	}
	if len(out) == 0 {
		return nil, nil
	}
	if out["limit"] == nil {
		out["limit"] = int64(1)
	}
	return out, nil
}

func httpCondition(word string) bool {
	if word == "5xx" || word == "gateway-error" {
		return true
	}
	from, to, ranged := strings.Cut(word, "-")
	a, err := strconv.Atoi(from)
	if err != nil || a < 100 || a > 599 {
		return false
	}
	b, err := strconv.Atoi(to)
	return !ranged || err == nil && b >= a && b <= 599
}

func grpcCondition(word string) bool {
	return slices.Contains([]string{"cancelled", "deadline-exceeded", "internal", "resource-exhausted", "unavailable"}, word)
}

// timeouts reads the block of timeouts; nil: there is none.
func timeouts(notes map[string]string) (map[string]any, error) {
	var out map[string]any
	for _, name := range []string{"request", "response", "idle"} {
		text, ok := notes[timeoutNote+name]
		if !ok {
			continue
		}
		if err := duration(text); err != nil {
			return nil, fmt.Errorf("%s%s: %w", timeoutNote, name, err)
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = text
	}
	return out, nil
}

// accrual reads circuit breaking; nil: there is none, as without a mode.
func accrual(notes map[string]string) (map[string]any, error) {
	mode, ok := notes[accrualNote]
	switch {
	case !ok:
		return nil, nil
	case mode != "consecutive" && mode != "unified":
		return nil, fmt.Errorf("%s: there is no mode %q", accrualNote, mode)
	}
	const consecutive, rate = accrualNote + "-consecutive-", alphaNote + "failure-accrual-success-rate-"
	r := noteReader{notes: notes}
	out := map[string]any{"mode": mode, "maxFailures": r.number(consecutive+"max-failures", 7), "minPenalty": r.duration(consecutive+"min-penalty", "1s"),
		"maxPenalty": r.duration(consecutive+"max-penalty", "60s"), "jitterRatio": r.ratio(consecutive+"jitter-ratio", 0.5)}
	if mode == "unified" {
		out["successRate"] = map[string]any{"threshold": r.ratio(rate+"threshold", 0.8), "window": r.duration(rate+"window", "10s"), "minRequests": r.number(rate+"min-requests", 5)}
	}
	return out, r.err
}

// bias reads what load balancing does with answers that fail; nil: nothing.
func bias(notes map[string]string) map[string]any {
	var out map[string]any
	for key, value := range notes {
		name, ok := strings.CutPrefix(key, alphaNote)
		if !ok || strings.HasPrefix(name, "failure-accrual") {
			continue
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = value
	}
	return out
}

// noteReader reads annotations, and keeps what is wrong with the first bad one.
type noteReader struct {
	notes map[string]string
	err   error
}

func (r *noteReader) fail(key, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: "+format, append([]any{key}, args...)...)
	}
}

func (r *noteReader) number(key string, otherwise int64) int64 {
	text, ok := r.notes[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		r.fail(key, "%q is no number", text)
	}
	return int64(n)
}

func (r *noteReader) ratio(key string, otherwise float64) float64 {
	text, ok := r.notes[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fail(key, "%q is no ratio", text)
	}
	return n
}

func (r *noteReader) duration(key, otherwise string) string {
	text, ok := r.notes[key]
	if !ok {
		return otherwise
	}
	if err := duration(text); err != nil {
		r.fail(key, "%w", err)
	}
	return text
}

// inert are annotations of circuit breaking that mean nothing beside the others, sorted.
func inert(notes map[string]string) []string {
	var out []string
	for key := range notes {
		rate := strings.HasPrefix(key, alphaNote+"failure-accrual-success-rate")
		if strings.HasPrefix(key, accrualNote+"-") && notes[accrualNote] == "" || rate && notes[accrualNote] != "unified" {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// outwards reports whether an object has annotations of this sort.
func outwards(o *model.Object) bool {
	for key := range o.Annotations {
		if strings.HasPrefix(key, retryNote) || strings.HasPrefix(key, timeoutNote) || strings.HasPrefix(key, accrualNote) || strings.HasPrefix(key, alphaNote) {
			return true
		}
	}
	return false
}
