package load

import "github.com/dopolicy/kubectl-dopolicy/pkg/load/document"

// ErrNothingReadable is wrapped by the error of Files when there was not one Kubernetes object in
// all of the input. The snapshot that comes with it holds the problems that say why.
var ErrNothingReadable = document.ErrNothingReadable

// Error says that no answer is possible: what was being read, why that failed, and what to do about
// it.
type Error = document.Error

// Limits bound what reading may cost. A document beyond one of them is left out with a
// LimitExceeded problem. A field that is zero means its default.
type Limits = document.Limits

// DefaultLimits is generous to dumps of whole clusters.
func DefaultLimits() Limits { return document.DefaultLimits() }
