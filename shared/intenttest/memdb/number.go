package memdb

import (
	"math/big"
	"strconv"
	"strings"
)

// DynamoDB's numbers are decimal: 38 significant digits, magnitudes from 1E-130 to
// below 1E+126 (Amazon DynamoDB, "Data types", "Number"). They are kept as text in
// one canonical form, plain and without needless zeros, so that equal numbers are
// equal strings.
const (
	maxDigits   = 38
	maxExponent = 125
	minExponent = -130
)

// canonical is the one form of a number.
func canonical(s string) (string, error) {
	if isPlainInteger(s) {
		return s, nil
	}
	negative, digits, exponent, ok := scanNumber(s)
	switch {
	case s == "":
		return "", invalid("The parameter cannot be converted to a numeric value")
	case !ok:
		return "", invalid("The parameter cannot be converted to a numeric value: %s", s)
	}
	return plain(negative, digits, exponent)
}

// isPlainInteger reports a whole number in canonical form: nearly all of them are.
func isPlainInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if len(digits) == 0 || len(digits) > maxDigits || digits[0] == '0' {
		return s == "0"
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// scanNumber takes a number apart: it is 0.digits × 10^exponent.
func scanNumber(s string) (negative bool, digits string, exponent int, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return false, "", 0, false
		}
		exponent, s = e, s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits = whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return false, "", 0, false
	}
	return negative, digits, exponent + len(whole), true
}

// plain writes 0.digits × 10^exponent, within DynamoDB's limits.
func plain(negative bool, digits string, exponent int) (string, error) {
	trimmed := strings.TrimLeft(digits, "0")
	exponent -= len(digits) - len(trimmed)
	digits = strings.TrimRight(trimmed, "0")
	switch {
	case digits == "":
		return "0", nil
	case exponent-1 > maxExponent:
		return "", invalid("Number overflow. Attempting to store a number with magnitude larger than supported range")
	case exponent-1 < minExponent:
		return "", invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	case len(digits) > maxDigits:
		return "", invalid("Attempting to store more than 38 significant digits in a Number")
	}
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	switch {
	case exponent <= 0:
		b.WriteString("0." + strings.Repeat("0", -exponent) + digits)
	case exponent >= len(digits):
		b.WriteString(digits + strings.Repeat("0", exponent-len(digits)))
	default:
		b.WriteString(digits[:exponent] + "." + digits[exponent:])
	}
	return b.String(), nil
}

// compareNumbers orders two canonical numbers.
func compareNumbers(a, b string) int {
	negative := a[0] == '-'
	switch {
	case a == b:
		return 0
	case negative != (b[0] == '-'):
		if negative {
			return -1
		}
		return 1
	case negative:
		return compareMagnitudes(b[1:], a[1:])
	}
	return compareMagnitudes(a, b)
}

func compareMagnitudes(a, b string) int {
	whole1, fraction1, _ := strings.Cut(a, ".")
	whole2, fraction2, _ := strings.Cut(b, ".")
	switch {
	case len(whole1) != len(whole2):
		return len(whole1) - len(whole2)
	case whole1 != whole2:
		return strings.Compare(whole1, whole2)
	}
	return strings.Compare(fraction1, fraction2) // neither ends in a zero
}

// addNumbers is a + b, or a - b, of two canonical numbers.
func addNumbers(a, b string, subtract bool) (string, error) {
	const safe = 18 // digits: the sum of two such numbers fits into 64 bits
	if len(a) <= safe && len(b) <= safe {
		x, err1 := strconv.ParseInt(a, 10, 64)
		y, err2 := strconv.ParseInt(b, 10, 64)
		if err1 == nil && err2 == nil {
			if subtract {
				y = -y
			}
			return strconv.FormatInt(x+y, 10), nil
		}
	}
	x, scale1 := unscaled(a)
	y, scale2 := unscaled(b)
	scale := max(scale1, scale2)
	shift(x, scale-scale1)
	shift(y, scale-scale2)
	if subtract {
		y.Neg(y)
	}
	x.Add(x, y)
	digits := strings.TrimPrefix(x.String(), "-")
	return plain(x.Sign() < 0, digits, len(digits)-scale)
}

// unscaled is the number without its point, and how many digits came after that.
func unscaled(s string) (*big.Int, int) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, _ := new(big.Int).SetString(whole+fraction, 10) // canonical: it is a number
	return n, len(fraction)
}

func shift(n *big.Int, digits int) {
	n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
}

// numberSize is the size of a canonical number in bytes: one for each pair of
// significant digits, counted from the point, one more, and one for a sign
// ("approximately", says Amazon DynamoDB, "Item sizes and formats"; so DynamoDB
// Local counts).
func numberSize(s string) int {
	size := 1
	if s[0] == '-' {
		size, s = 2, s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	first, last := -len(whole), len(fraction) // the digits' places, from the point
	digits := whole + fraction
	for digits != "" && digits[0] == '0' {
		first, digits = first+1, digits[1:]
	}
	for digits != "" && digits[len(digits)-1] == '0' {
		last, digits = last-1, digits[:len(digits)-1]
	}
	if digits == "" {
		return size
	}
	return size + ceilDiv(last, 2) - floorDiv(first, 2)
}

func floorDiv(n, d int) int {
	if n < 0 {
		return -ceilDiv(-n, d)
	}
	return n / d
}

func ceilDiv(n, d int) int {
	if n < 0 {
		return -floorDiv(-n, d)
	}
	return (n + d - 1) / d
}
