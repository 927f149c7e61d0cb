// Package audit holds what should be in force on the rules of routes against what a proxy does with
// them.
//
// What lands where in a proxy is a vendor's knowledge: a Mapping. A difference is reported only
// where the mapping is sure of both sides; what it cannot judge is not compared, and says so.
package audit
