package expression

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// bytesPerStep is how many bytes of a text are as much as one entry of a list.
const bytesPerStep = 16

// sortSteps is how often sorting goes through a list.
const sortSteps = 20

// callSteps is how many steps a call takes at most. What is above most is not told apart.
func callSteps(function string, args []ref.Val, most int) int {
	all := 0
	for _, arg := range args {
		if all > most {
			return all
		}
		all += valueSteps(arg, most-all)
	}
	size := func(i int) int { return sizeOf(args, i) }
	switch {
	case function == operators.Equals || function == operators.NotEquals:
		if isSized(args[0]) && isSized(args[1]) && size(0) != size(1) {
			return 1
		}
	case strings.HasPrefix(function, "sets."):
		return multiplySteps(all, max(size(0), size(1)))
	case function == "distinct":
		return multiplySteps(all, size(0))
	case function == "sort" || function == "@sortByAssociatedKeys":
		return multiplySteps(all, sortSteps)
	case function == "lists.range":
		return all + largestNumber(args)
	case function == "indexOf" || function == "lastIndexOf":
		if _, ok := args[0].(types.String); ok {
			return all + multiplySteps(size(0), size(1))/bytesPerStep
		}
	case function == "split":
		return all + size(0)
	case function == "join":
		return all + multiplySteps(size(0), 1+size(1)/bytesPerStep)
	case function == "replace":
		return all + replacedLength(args)/bytesPerStep
	case function == "format":
		return all + formatWidths(args[0])/bytesPerStep
	case function == "quantity" || function == "isQuantity":
		return all + multiplySteps(quantityExponent(args[0]), stepsPerDigit)
	}
	return all
}

// stepsPerDigit is what a digit of a quantity takes: as one comes from every power of ten, 1e999999 is a
// number of a million digits.
const stepsPerDigit = 10

// quantityExponent is the exponent of a quantity such as 1e6, without its sign: 0 if it has none.
func quantityExponent(v ref.Val) int {
	text, _ := v.(types.String)
	at := strings.LastIndexAny(string(text), "eE")
	if at < 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(text[at+1:]), 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt32
	}
	return int(max(n, -n))
}

// isPatternCall reports whether the second argument of a function is a regular expression.
func isPatternCall(function string) bool {
	return slices.Contains([]string{"matches", "find", "findAll"}, function)
}

// patternSteps is how many steps it takes at most to match a text, the first of the arguments, by a
// pattern of so many instructions.
func patternSteps(args []ref.Val, instructions int) int {
	return multiplySteps(sizeOf(args, 0)+bytesPerStep, instructions) / bytesPerStep
}

// manySteps is more steps than any evaluation may take.
const manySteps = 1 << 40

// multiplySteps multiplies numbers; what is too much stays too much.
func multiplySteps(a, b int) int {
	if a > 0 && b > manySteps/a {
		return manySteps
	}
	return a * b
}

func isSized(v ref.Val) bool {
	_, ok := v.(traits.Sizer)
	return ok
}

// sizeOf is the size of an argument; 0: it has none.
func sizeOf(args []ref.Val, i int) int {
	if i >= len(args) {
		return 0
	}
	switch v := args[i].(type) {
	case types.String:
		return len(v)
	case traits.Sizer:
		n, _ := v.Size().(types.Int)
		return int(n)
	}
	return 0
}

func largestNumber(args []ref.Val) int {
	largest := 0
	for _, arg := range args {
		if n, ok := arg.(types.Int); ok {
			largest = max(largest, int(min(n, manySteps)))
		}
	}
	return largest
}

// replacedLength is how long a text becomes when something in it is replaced, in bytes.
func replacedLength(args []ref.Val) int {
	text, isText := args[0].(types.String)
	old, isOld := args[1].(types.String)
	if !isText || !isOld {
		return 0
	}
	return len(text) + multiplySteps(strings.Count(string(text), string(old)), sizeOf(args, 2))
}

// formatWidths adds up the numbers in a format.
func formatWidths(format ref.Val) int {
	text, _ := format.(types.String)
	sum, number := 0, 0
	for _, r := range string(text) {
		if unicode.IsDigit(r) {
			number = min(10*number+int(r-'0'), manySteps)
			continue
		}
		sum, number = min(sum+number, manySteps), 0
	}
	return min(sum+number, manySteps)
}

// valueSteps is how many steps it takes to go through a value, with all that is in it as often as it
// is in it. What is above most is not told apart.
func valueSteps(v ref.Val, most int) int {
	switch t := v.(type) {
	case types.String:
		return 1 + len(t)/bytesPerStep
	case types.Bytes:
		return 1 + len(t)/bytesPerStep
	case *types.Optional:
		if t.HasValue() {
			return 1 + valueSteps(t.GetValue(), most)
		}
		return 1
	case traits.MutableLister, traits.MutableMapper: // of a loop, which adds to it in place
		return 1
	case *celObject:
		return bodySteps(t.Body, most)
	case traits.Lister:
		return listSteps(t, most)
	case traits.Mapper:
		return mapSteps(t, most)
	}
	return 1
}

func listSteps(list traits.Lister, most int) int {
	n, _ := list.Size().(types.Int)
	all := 1
	for i := types.IntZero; i < n && all <= most; i++ {
		all += valueSteps(list.Get(i), most-all)
	}
	return all
}

func mapSteps(m traits.Mapper, most int) int {
	all := 1
	for it := m.Iterator(); all <= most && it.HasNext() == types.True; {
		key := it.Next()
		all += valueSteps(key, most)
		if value, ok := m.Find(key); ok {
			all += valueSteps(value, most-all)
		}
	}
	return all
}

func bodySteps(b model.Body, most int) int {
	if b.IsText() {
		return 1 + len(b.Text())/bytesPerStep
	}
	all := 1
	for key, inner := range b.Fields {
		if all += 1 + len(key)/bytesPerStep; all > most {
			break
		}
		all += bodySteps(inner, most-all)
	}
	for _, inner := range b.Items {
		if all > most {
			break
		}
		all += bodySteps(inner, most-all)
	}
	return all
}
