package descriptor

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
)

// Review is what a vendor's descriptors and functions were last held against.
type Review struct {
	Release string // as the vendor calls it, such as "1.9.1"; where there are none, what was read in their place
	Date    string // on which that was done, YYYY-MM-DD
}

// ReviewOf returns when a vendor was last reviewed; false if nothing says so.
func (c *Catalog) ReviewOf(vendor string) (Review, bool) {
	r, ok := c.reviews[vendor]
	return r, ok
}

// readReview reads what a vendor was held against.
func (r *vendorReader) readReview(n *yaml.Node) {
	r.Object(n, map[string]form.Field{"release": r.Text(&r.review.Release), "date": r.Text(&r.review.Date)})
	if _, err := time.Parse(time.DateOnly, r.review.Date); err != nil || r.review.Release == "" {
		r.Fail(n, "a review needs \"release\", and \"date\" as YYYY-MM-DD")
	}
}
