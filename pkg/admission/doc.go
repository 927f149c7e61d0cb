// Package admission repeats what the API server says to an object before anything else sees it:
// validation rules in CEL, and pieces of the schema.
//
// A Validation is filled while a descriptor is read, and never changes after that. Judge tells what
// is wrong with one object.
package admission
