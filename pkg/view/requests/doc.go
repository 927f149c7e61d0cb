// Package requests answers what becomes of single requests and connections, with the policies in
// force on their way, and holds that against what is expected of them. It knows nothing of classes
// of requests as a whole: those are the business of prove and behavior.
package requests
