// Package selector answers what label selectors select: yes, no, or maybe where labels are not
// known.
package selector
