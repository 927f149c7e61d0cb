// Package protect says what requests are protected by: which properties hold for every request of a
// class that gets through to a backend, which gates establish them, and what gates may answer.
//
// A gate is a setting in force on the way of a request. Descriptors say which settings are gates
// (package gate); functions of vendors complete what data cannot say. Gates that all run are
// required together; alternatives hold if all of them do.
package protect
