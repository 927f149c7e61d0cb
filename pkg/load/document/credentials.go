package document

import (
	"strconv"
	"strings"
)

// hidden stands for credentials in a text.
const hidden = "***"

// HideCredentials returns a text in which addresses have no users and passwords. The addresses may
// be malformed, as where a library quotes what it cannot parse.
func HideCredentials(text string) string {
	var out strings.Builder
	var found []string
	for {
		at := strings.Index(text, "://")
		if at < 0 {
			break
		}
		at += len("://")
		quoted := isQuoted(text[:at])
		end := at + addressLength(text[at:], quoted)
		address := text[at:end]
		cut := credentialsLength(address, text[:at])
		if cut == 0 && quoted && isCutOff(address) {
			cut = len(address)
		}
		if cut > 0 {
			found = append(found, address[:cut])
			out.WriteString(text[:at] + hidden + address[cut:])
		} else {
			out.WriteString(text[:end])
		}
		text = text[end:]
	}
	out.WriteString(text)
	if found == nil {
		return out.String()
	}
	return hideQuotedParts(out.String(), found)
}

// HideCredentialsOf returns a text in which an address that is known to the caller has no user and
// password, however it is written.
func HideCredentialsOf(address, text string) string {
	begin := 0
	if at := strings.Index(address, "://"); at >= 0 {
		begin = at + len("://")
	}
	end := strings.LastIndexByte(address, '@')
	if end <= begin {
		return text
	}
	bare := address[:begin] + hidden + address[end:]
	text = strings.ReplaceAll(text, address, bare)
	quoted := strconv.Quote(address)
	text = strings.ReplaceAll(text, quoted[1:len(quoted)-1], bare)
	return hideQuotedParts(text, []string{address[begin:end]})
}

// isQuoted reports whether the address with such a scheme begins behind a quotation mark.
func isQuoted(before string) bool {
	scheme := strings.TrimSuffix(before, "://")
	return strings.HasSuffix(strings.TrimRightFunc(scheme, isSchemeRune), `"`)
}

func isSchemeRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+-.", r)
}

// addressLength returns where an address ends: at the quotation mark that closes it, else at white
// space or a mark.
func addressLength(text string, quoted bool) int {
	if !quoted {
		if end := strings.IndexAny(text, " \t\r\n\"'`<>"); end >= 0 {
			return end
		}
		return len(text)
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// credentialsLength returns how much of an address without its scheme is a user and a password.
func credentialsLength(address, scheme string) int {
	last := strings.LastIndexByte(address, '@')
	if last < 0 {
		return 0
	}
	host := address
	if end := strings.IndexAny(address, "/?#"); end >= 0 {
		host = address[:end]
	}
	user, password, colon := strings.Cut(host, ":")
	if hasUser := strings.Contains(host, "@"); colon && (hasUser || strings.Trim(password, "0123456789") != "") {
		if strings.Contains(user, "@") { // the colon is that of a port
			return strings.LastIndexByte(host, '@')
		}
		return last // a password may have any character
	} else if hasUser && !strings.HasSuffix(scheme, "ssh://") { // a token, but for ssh a name that is no secret
		return strings.LastIndexByte(host, '@')
	}
	return 0
}

// isCutOff reports whether an address may end within its password, as if that had a #: its port is no
// number.
func isCutOff(address string) bool {
	host, _, _ := strings.Cut(address, "/")
	user, port, colon := strings.Cut(host, ":")
	return colon && user != "[" && strings.Trim(port, "0123456789") != ""
}

// hideQuotedParts hides what is quoted of credentials: what is wrong with an address may be told by a
// piece of it.
func hideQuotedParts(text string, credentials []string) string {
	parts := strings.Split(text, `"`)
	for i := 1; i < len(parts)-1; i++ {
		for _, c := range credentials {
			if parts[i] != "" && strings.Contains(":"+c, parts[i]) {
				parts[i] = hidden
			}
		}
	}
	return strings.Join(parts, `"`)
}
