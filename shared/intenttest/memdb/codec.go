package memdb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The SDK's types and the JSON of the protocol have the same names, so reflection translates all of them; attribute values
// alone are unions, of which each member has a type of its own.

var unionMembers = map[string]reflect.Type{
	"S": reflect.TypeFor[types.AttributeValueMemberS](), "N": reflect.TypeFor[types.AttributeValueMemberN](),
	"B": reflect.TypeFor[types.AttributeValueMemberB](), "BOOL": reflect.TypeFor[types.AttributeValueMemberBOOL](),
	"NULL": reflect.TypeFor[types.AttributeValueMemberNULL](), "L": reflect.TypeFor[types.AttributeValueMemberL](),
	"M": reflect.TypeFor[types.AttributeValueMemberM](), "SS": reflect.TypeFor[types.AttributeValueMemberSS](),
	"NS": reflect.TypeFor[types.AttributeValueMemberNS](), "BS": reflect.TypeFor[types.AttributeValueMemberBS](),
}

// encode writes a value as JSON, maps in the order of their keys and absent members not at all.
func encode(v any) []byte {
	var b bytes.Buffer
	writeJSON(&b, reflect.ValueOf(v))
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		writeJSON(b, v.Elem())
	case reflect.Interface:
		member := v.Interface().(types.AttributeValue)
		fmt.Fprintf(b, "{%q:", kindOf(member))
		writeJSON(b, reflect.ValueOf(member).Elem().FieldByName("Value"))
		b.WriteByte('}')
	case reflect.Struct:
		writeStruct(b, v)
	case reflect.Map:
		b.WriteByte('{')
		keys := slices.SortedFunc(slices.Values(v.MapKeys()), func(x, y reflect.Value) int { return bytes.Compare([]byte(x.String()), []byte(y.String())) })
		for i, key := range keys {
			writeName(b, i, key.String())
			writeJSON(b, v.MapIndex(key))
		}
		b.WriteByte('}')
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			writeText(b, base64.StdEncoding.EncodeToString(v.Bytes()))
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.String:
		writeText(b, v.String())
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int32, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'f', -1, 64))
	}
}

func writeStruct(b *bytes.Buffer, v reflect.Value) {
	b.WriteByte('{')
	written := 0
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if !field.IsExported() || field.Name == "ResultMetadata" || isAbsent(value) {
			continue
		}
		writeName(b, written, field.Name)
		writeJSON(b, value)
		written++
	}
	b.WriteByte('}')
}

// isAbsent: what has a nil is absent if it is that, and an enumeration if it is empty. Numbers are always there.
func isAbsent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0
	}
	return false
}

func writeName(b *bytes.Buffer, i int, name string) {
	if i > 0 {
		b.WriteByte(',')
	}
	writeText(b, name)
	b.WriteByte(':')
}

func writeText(b *bytes.Buffer, s string) {
	text, _ := json.Marshal(s) // of a string it cannot fail
	b.Write(text)
}

// decode reads JSON into the struct that to points to. Members that it does not know are refused: they would be ignored in
// silence.
func decode(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return err
	}
	return readJSON(tree, reflect.ValueOf(to).Elem())
}

func readJSON(tree any, to reflect.Value) error {
	if tree == nil {
		return nil
	}
	mismatch := fmt.Errorf("%T found where a %s is expected", tree, to.Type())
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return readJSON(tree, to.Elem())
	case reflect.Interface:
		return readUnion(tree, to)
	case reflect.Struct:
		return readStruct(tree, to)
	case reflect.Map:
		object, ok := tree.(map[string]any)
		if !ok {
			return mismatch
		}
		to.Set(reflect.MakeMapWithSize(to.Type(), len(object)))
		for name, member := range object {
			v := reflect.New(to.Type().Elem()).Elem()
			if err := readJSON(member, v); err != nil {
				return err
			}
			to.SetMapIndex(reflect.ValueOf(name).Convert(to.Type().Key()), v)
		}
		return nil
	case reflect.Slice:
		if s, ok := tree.(string); ok && to.Type().Elem().Kind() == reflect.Uint8 {
			b, err := base64.StdEncoding.DecodeString(s)
			to.SetBytes(b)
			return err
		}
		list, ok := tree.([]any)
		if !ok {
			return mismatch
		}
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
		for i, element := range list {
			if err := readJSON(element, to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return readScalar(tree, to, mismatch)
}

func readScalar(tree any, to reflect.Value, mismatch error) error {
	switch v := tree.(type) {
	case string:
		if to.Kind() == reflect.String {
			to.SetString(v)
			return nil
		}
	case bool:
		if to.Kind() == reflect.Bool {
			to.SetBool(v)
			return nil
		}
	case json.Number:
		if n, err := v.Int64(); err == nil && to.CanInt() && !to.OverflowInt(n) {
			to.SetInt(n)
			return nil
		}
	}
	return mismatch
}

func readStruct(tree any, to reflect.Value) error {
	object, ok := tree.(map[string]any)
	if !ok {
		return fmt.Errorf("%T found where a structure is expected", tree)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field := to.FieldByName(name)
		if !field.IsValid() {
			return &UnsupportedError{What: name}
		}
		if err := readJSON(object[name], field); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func readUnion(tree any, to reflect.Value) error {
	object, ok := tree.(map[string]any)
	switch {
	case !ok:
		return fmt.Errorf("%T found where an attribute value is expected", tree)
	case len(object) > 1:
		return invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	}
	for name, member := range object {
		kind, ok := unionMembers[name]
		if !ok {
			return invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
		}
		v := reflect.New(kind)
		if err := readJSON(member, v.Elem().FieldByName("Value")); err != nil {
			return err
		}
		to.Set(v)
	}
	return nil // of an empty one, which is refused where it is taken
}
