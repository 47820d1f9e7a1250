package secret

import "strings"

// RedactArgs returns a copy of a command line in which keys, sensitive headers, fields
// of JSON that hold one by their name, and the secrets of URLs are masked. It needs no
// knowledge of the secrets.
func RedactArgs(argv []string) []string {
	out := make([]string, len(argv))
	var flag string // a flag whose value is the next argument
	for i, arg := range argv {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case flag != "":
			out[i] = flagValue(flag, arg)
			flag = ""
		case strings.HasPrefix(arg, "-H") && len(arg) > 2:
			out[i] = "-H" + RedactHeaderLine(arg[2:])
		case strings.HasPrefix(arg, "-") && joined:
			out[i] = name + "=" + flagValue(name, value)
		case strings.HasPrefix(arg, "-"):
			out[i], flag = arg, arg
			if !secretFlag(arg) && !headerFlag(arg) && arg != varyFlag {
				flag = ""
			}
		default:
			out[i] = maskText(arg)
		}
	}
	return out
}

func flagValue(flag, value string) string {
	switch {
	case headerFlag(flag) && strings.HasPrefix(strings.TrimSpace(value), "{"): // several, as other tools take them
		return maskLooks(maskFields(value, SensitiveHeader))
	case headerFlag(flag):
		return RedactHeaderLine(value)
	case flag == varyFlag:
		return varied(value)
	case secretFlag(flag) && value != "":
		return Mask
	}
	return maskText(value)
}

// maskText masks in a text of any kind.
func maskText(s string) string { return maskLooks(maskFields(RedactURL(s), SensitiveField)) }

// varyFlag lists values of another flag, NAME=A,B. Each of them may hold a secret.
const varyFlag = "--vary"

func varied(text string) string {
	name, list, _ := strings.Cut(text, "=")
	flag := "--" + strings.TrimLeft(strings.TrimSpace(name), "-")
	values := strings.Split(list, ",")
	for i, v := range values {
		values[i] = flagValue(flag, v)
	}
	return text[:len(text)-len(list)] + strings.Join(values, ",")
}

func headerFlag(flag string) bool { return flag == "-H" || flag == "--header" || flag == "--headers" }

// secretFlag reports whether a flag's value is a secret. Flags that name an
// environment variable or a file (--api-key-env, --api-key-file) carry none.
func secretFlag(flag string) bool {
	name := strings.ToLower(strings.ReplaceAll(strings.TrimLeft(flag, "-"), "_", "-"))
	if strings.HasSuffix(name, "-env") || strings.HasSuffix(name, "-file") {
		return false
	}
	return name == "key" || name == "bearer" || SensitiveField(name)
}
