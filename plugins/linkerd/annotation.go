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
	retryPrefix       = "retry.linkerd.io/"
	timeoutPrefix     = "timeout.linkerd.io/"
	accrualAnnotation = "balancer.linkerd.io/failure-accrual"
	alphaPrefix       = "balancer.alpha.linkerd.io/"
)

// checkDuration refuses a text that is no duration to Linkerd: a whole number with a unit, or 0.
func checkDuration(text string) error {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := text[len(number):]
	if _, err := strconv.ParseUint(number, 10, 64); err != nil || !slices.Contains([]string{"ms", "s", "m", "h", "d"},
		unit) && !(unit == "" && strings.Trim(number, "0") == "") {
		return fmt.Errorf("%q is no duration: it takes a whole number with ms, s, m, h or d", text)
	}
	return nil
}

func isZeroDuration(text string) bool {
	return strings.Trim(strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz"), "0") == ""
}

// readRetries reads the block of retries; nil: there is none. Conditions are those of HTTP or of
// gRPC.
func readRetries(notes map[string]string, grpc bool) (map[string]any, error) {
	out := map[string]any{}
	if text, ok := notes[retryPrefix+"limit"]; ok {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%slimit: %q is no number of retries", retryPrefix, text)
		}
		if n > 0 {
			out["limit"] = int64(n)
		}
	}
	if text, ok := notes[retryPrefix+"timeout"]; ok {
		if err := checkDuration(text); err != nil {
			return nil, fmt.Errorf("%stimeout: %w", retryPrefix, err)
		}
		if !isZeroDuration(text) {
			out["timeout"] = text
		}
	}
	key, valid := retryPrefix+"http", isHTTPCondition
	if grpc {
		key, valid = retryPrefix+"grpc", isGRPCCondition
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

func isHTTPCondition(word string) bool {
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

func isGRPCCondition(word string) bool {
	return slices.Contains([]string{"cancelled", "deadline-exceeded", "internal", "resource-exhausted", "unavailable"},
		word)
}

// readTimeouts reads the block of timeouts; nil: there is none.
func readTimeouts(notes map[string]string) (map[string]any, error) {
	var out map[string]any
	for _, name := range []string{"request", "response", "idle"} {
		text, ok := notes[timeoutPrefix+name]
		if !ok {
			continue
		}
		if err := checkDuration(text); err != nil {
			return nil, fmt.Errorf("%s%s: %w", timeoutPrefix, name, err)
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = text
	}
	return out, nil
}

// readAccrual reads circuit breaking; nil: there is none, as without a mode.
func readAccrual(notes map[string]string) (map[string]any, error) {
	mode, ok := notes[accrualAnnotation]
	switch {
	case !ok:
		return nil, nil
	case mode != "consecutive" && mode != "unified":
		return nil, fmt.Errorf("%s: there is no mode %q", accrualAnnotation, mode)
	}
	const consecutive, rate = accrualAnnotation + "-consecutive-", alphaPrefix + "failure-accrual-success-rate-"
	r := annotationReader{annotations: notes}
	out := map[string]any{"mode": mode, "maxFailures": r.readNumber(consecutive+"max-failures", 7),
		"minPenalty": r.readDuration(consecutive+"min-penalty", "1s"),
		"maxPenalty": r.readDuration(consecutive+"max-penalty", "60s"), "jitterRatio": r.readRatio(consecutive+
			"jitter-ratio", 0.5)}
	if mode == "unified" {
		out["successRate"] = map[string]any{"threshold": r.readRatio(rate+"threshold", 0.8),
			"window": r.readDuration(rate+"window", "10s"), "minRequests": r.readNumber(rate+"min-requests", 5)}
	}
	return out, r.err
}

// readLoadBias reads what load balancing does with answers that fail; nil: nothing.
func readLoadBias(notes map[string]string) map[string]any {
	var out map[string]any
	for key, value := range notes {
		name, ok := strings.CutPrefix(key, alphaPrefix)
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

// annotationReader reads annotations, and keeps what is wrong with the first bad one.
type annotationReader struct {
	annotations map[string]string
	err         error
}

func (r *annotationReader) keepError(key, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: "+format, append([]any{key}, args...)...)
	}
}

func (r *annotationReader) readNumber(key string, otherwise int64) int64 {
	text, ok := r.annotations[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		r.keepError(key, "%q is no number", text)
	}
	return int64(n)
}

func (r *annotationReader) readRatio(key string, otherwise float64) float64 {
	text, ok := r.annotations[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.keepError(key, "%q is no ratio", text)
	}
	return n
}

func (r *annotationReader) readDuration(key, otherwise string) string {
	text, ok := r.annotations[key]
	if !ok {
		return otherwise
	}
	if err := checkDuration(text); err != nil {
		r.keepError(key, "%w", err)
	}
	return text
}

// findInert are annotations of circuit breaking that mean nothing beside the others, sorted.
func findInert(notes map[string]string) []string {
	var out []string
	for key := range notes {
		rate := strings.HasPrefix(key, alphaPrefix+"failure-accrual-success-rate")
		if strings.HasPrefix(key, accrualAnnotation+"-") && notes[accrualAnnotation] == "" ||
			rate && notes[accrualAnnotation] != "unified" {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// hasOutboundAnnotations reports whether an object has annotations about outbound traffic.
func hasOutboundAnnotations(o *model.Object) bool {
	for key := range o.Annotations {
		if strings.HasPrefix(key, retryPrefix) || strings.HasPrefix(key, timeoutPrefix) ||
			strings.HasPrefix(key, accrualAnnotation) || strings.HasPrefix(key, alphaPrefix) {
			return true
		}
	}
	return false
}
