package config

import (
	"fmt"
	"regexp"
	"strings"
)

// hint is how a value that cannot be read was probably meant, for the end of a
// sentence, or "".
func (s *Setting) hint(text string) string {
	meant := ""
	switch s.Kind {
	case Choice:
		meant = Nearest(text, s.Choices)
	case Duration, Object:
		meant = meantUnit(text, durationUnits)
	case Size:
		meant = meantUnit(text, sizeWords)
	case Rate:
		meant = meantRate(text)
	case Flag:
		meant = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false"}[strings.ToLower(text)]
	}
	if meant == "" || meant == text {
		return ""
	}
	if _, err := parseText(s, meant); err != nil {
		return ""
	}
	if s.Kind == Flag {
		return fmt.Sprintf(". Did you mean %s?", meant)
	}
	return fmt.Sprintf(". Did you mean %q?", meant)
}

var (
	durationUnits = map[string]string{"": "s", "ms": "ms", "msec": "ms", "s": "s", "sec": "s", "second": "s", "m": "m", "min": "m", "minute": "m",
		"h": "h", "hr": "h", "hour": "h", "d": "d", "day": "d"}
	sizeWords = map[string]string{"b": "B", "byte": "B", "k": "KiB", "kib": "KiB", "kb": "kB", "m": "MiB", "mib": "MiB", "mb": "MB",
		"g": "GiB", "gib": "GiB", "gb": "GB", "t": "TiB", "tib": "TiB", "tb": "TB"}
	rateUnits = map[string]string{"s": "s", "sec": "s", "second": "s", "m": "m", "min": "m", "minute": "m", "h": "h", "hr": "h", "hour": "h"}
	quantity  = regexp.MustCompile(`^\s*([0-9]+)\s*([A-Za-z]*?)s?\s*$`)
	frequency = regexp.MustCompile(`^\s*([0-9]+)\s*(?:/|per)?\s*([A-Za-z]*?)s?\s*$`)
)

func meantUnit(text string, units map[string]string) string {
	part := quantity.FindStringSubmatch(text)
	if part == nil {
		return ""
	}
	unit, ok := units[strings.ToLower(part[2])]
	if !ok {
		return ""
	}
	return part[1] + unit
}

func meantRate(text string) string {
	part := frequency.FindStringSubmatch(text)
	if part == nil {
		return ""
	}
	unit, ok := rateUnits[strings.ToLower(part[2])]
	if !ok {
		return ""
	}
	return part[1] + "/" + unit
}
