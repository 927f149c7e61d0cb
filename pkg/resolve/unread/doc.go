// Package unread finds what of an input has to do with traffic and is read by nobody: objects of
// unknown kinds, filters, parameters, annotations. Resolving does not depend on it.
package unread
