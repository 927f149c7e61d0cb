// Package report gathers what the commands answer about one input into one document, and writes it
// as JSON or as a page of HTML that needs nothing else: the document is packed into the page, the
// program that shows it is embedded, and nothing comes from a network.
package report
