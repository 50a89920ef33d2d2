package dedup

import (
	"strconv"
	"strings"
)

// maxDigits bounds the text of a number: one of more digits, those before and
// behind the point together as they would be written, has none.
const maxDigits = 64

// maxExponent is how many digits of an exponent are read as a number. No
// literal is long enough to balance a longer one.
const maxExponent = 18

// A decimal is a number literal taken apart: 0.digits times ten to the power
// of point. Digits has neither leading nor trailing zeros and is empty for 0.
type decimal struct {
	negative bool
	digits   string
	point    int64
	huge     bool // the exponent has more than maxExponent digits; point is unknown
}

// numberText returns a JSON number as exact decimal digits: no exponent, no
// leading or trailing zeros, no sign at 0. What is over maxDigits is known
// before anything is written, so 1e1000000 costs nothing.
func numberText(literal string) (string, bool) {
	if isShortInteger(literal) {
		return literal, true
	}
	d, ok := parseDecimal(literal)
	if !ok || d.huge || d.width() > maxDigits {
		return "", false
	}
	return d.plain(), true
}

// exactNumber is numberText for what has to stay different although it is
// long: a number over maxDigits is its digits and an exponent, and one with an
// exponent beyond all use stays as it came.
func exactNumber(literal string) (string, bool) {
	if isShortInteger(literal) {
		return literal, true
	}
	d, ok := parseDecimal(literal)
	switch {
	case !ok:
		return "", false
	case d.huge:
		return literal, true
	case d.width() > maxDigits:
		return d.sign() + d.digits + "e" + strconv.FormatInt(d.point-int64(len(d.digits)), 10), true
	default:
		return d.plain(), true
	}
}

// isShortInteger reports whether s is in its normal form already, the usual case.
func isShortInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > maxDigits || digits[0] == '0' && len(s) > 1 {
		return false
	}
	return countDigits(digits) == len(digits)
}

// parseDecimal takes a literal of the JSON grammar apart; leading zeros and a
// plus sign are no mistakes to it.
func parseDecimal(s string) (decimal, bool) {
	unsigned := strings.TrimPrefix(s, "-")
	d := decimal{negative: len(unsigned) < len(s)}
	mantissa, exponent, ok := cutExponent(unsigned)
	if !ok {
		return d, false
	}
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	if whole == "" || dotted && fraction == "" || countDigits(whole) != len(whole) || countDigits(fraction) != len(fraction) {
		return d, false
	}
	d.digits, d.point = significant(whole, fraction)
	if d.digits == "" {
		return decimal{}, true
	}
	value, ok := parseExponent(exponent)
	d.huge = !ok
	d.point += value
	return d, true
}

// cutExponent returns the exponent with its sign, "0" when there is none.
func cutExponent(s string) (mantissa, exponent string, ok bool) {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return s, "0", true
	}
	digits := strings.TrimLeft(s[i+1:], "+-")
	ok = digits != "" && len(s[i+1:])-len(digits) <= 1 && countDigits(digits) == len(digits)
	return s[:i], s[i+1:], ok
}

// parseExponent reports false when the exponent is out of all bounds.
func parseExponent(s string) (int64, bool) {
	digits := strings.TrimLeft(strings.TrimLeft(s, "+-"), "0")
	if digits == "" {
		return 0, true
	}
	if len(digits) > maxExponent {
		return 0, false
	}
	value, err := strconv.ParseInt(digits, 10, 64)
	if s[0] == '-' {
		value = -value
	}
	return value, err == nil
}

// significant returns the digits of whole.fraction without outer zeros, and
// how many of them (it may be less than none) stand before the point.
func significant(whole, fraction string) (digits string, point int64) {
	fraction = strings.TrimRight(fraction, "0")
	whole = strings.TrimLeft(whole, "0")
	point = int64(len(whole))
	switch {
	case whole == "":
		digits = strings.TrimLeft(fraction, "0")
		point = int64(len(digits) - len(fraction))
	case fraction == "":
		digits = strings.TrimRight(whole, "0")
	default:
		digits = whole + fraction
	}
	return digits, point
}

// width is how many digits plain writes.
func (d decimal) width() int64 {
	digits := int64(len(d.digits))
	switch {
	case digits == 0:
		return 1
	case d.point <= 0:
		return 1 - d.point + digits
	default:
		return max(digits, d.point)
	}
}

func (d decimal) sign() string {
	if d.negative {
		return "-"
	}
	return ""
}

func (d decimal) plain() string {
	digits, point := d.digits, int(d.point)
	switch {
	case digits == "":
		return "0"
	case point <= 0:
		return d.sign() + "0." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		return d.sign() + digits + strings.Repeat("0", point-len(digits))
	default:
		return d.sign() + digits[:point] + "." + digits[point:]
	}
}

// countDigits returns how many decimal digits s begins with.
func countDigits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
