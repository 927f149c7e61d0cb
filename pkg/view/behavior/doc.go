// Package behavior answers what requests get from one input and not from another, class by class.
package behavior
