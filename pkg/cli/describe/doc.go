// Package describe is the command that shows what there is to know about one object.
package describe
