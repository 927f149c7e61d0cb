package requirement

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// perSecond is the function perSecond(number, window): how much a limit of so much in a window
// comes to in a second. A window is a duration, a text as "10s", "1h30m" or "1d", or a unit as
// "Minute".
func perSecond() cel.EnvOption {
	return cel.Function("perSecond", cel.Overload("per_second", []*cel.Type{cel.DynType, cel.DynType}, cel.DoubleType,
		cel.BinaryBinding(func(number, window ref.Val) ref.Val {
			n, ok := number.ConvertToType(types.DoubleType).(types.Double)
			if _, isText := number.(types.String); isText || !ok {
				return types.NewErr("perSecond: %v is not a number", number.Value())
			}
			span, ok := windowSeconds(window)
			if !ok {
				return types.NewErr("perSecond: %v is not a window as 10s, 1h30m, 1d or Minute", window.Value())
			}
			return types.Double(float64(n) / span)
		})))
}

// windowSeconds is the length of a window; false if it is none.
func windowSeconds(window ref.Val) (float64, bool) {
	switch t := window.Value().(type) {
	case time.Duration:
		return t.Seconds(), t > 0
	case string:
		if span, ok := windowUnits()[strings.ToLower(t)]; ok {
			return span, true
		}
		if days, found := strings.CutSuffix(t, "d"); found {
			n, err := strconv.ParseFloat(days, 64)
			return n * 24 * time.Hour.Seconds(), err == nil && n > 0
		}
		d, err := time.ParseDuration(t)
		return d.Seconds(), err == nil && d > 0
	}
	return 0, false
}

// windowUnits returns the lengths of windows by their words.
func windowUnits() map[string]float64 {
	out := map[string]float64{}
	for word, length := range map[string]float64{"second": 1, "minute": 60, "hour": 3600, "day": 86400,
		"week": 604800} {
		out[word], out[word+"s"] = length, length
	}
	return out
}
