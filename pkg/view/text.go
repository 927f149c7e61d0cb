package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// JoinWithAnd joins names as a sentence does.
func JoinWithAnd(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// FormatNumber writes a number with a comma before every three digits.
func FormatNumber(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return FormatNumber(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// JoinNames joins names; too many for a line are counted.
func JoinNames(names []string, o TableOptions) string {
	if o.Wide || len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames-1], ", "), len(names)-mostNames+1)
}

// MissingObjectHint says what to do where an object is not in the input. What is missing of a
// cluster is forbidden, and other problems say what to do about that.
func MissingObjectHint(in *model.Snapshot) string {
	if in.Cluster != nil {
		return ""
	}
	return "also read the manifests that have it (-f), or ask the cluster"
}
