package memdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

const (
	contentType = "application/x-amz-json-1.0"
	target      = "DynamoDB_20120810."
	namespace   = "com.amazonaws.dynamodb.v20120810#"
	maxBody     = 16 << 20 // bytes of a request (Amazon DynamoDB quotas, "API request size")
)

// RoundTrip makes the database the transport of an HTTP client, in this process and without sockets: the HTTPClient of an SDK
// client, or the Base of intenttest.Faults. A lost reply, or a planned error that is no exception, is RoundTrip's own error.
func (db *DB) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(io.LimitReader(req.Body, maxBody+1)); err != nil {
			return nil, fmt.Errorf("read request body: %w", err)
		}
	}
	status, answer, err := db.respond(req.Context(), req.Header.Get("X-Amz-Target"), body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: headers(answer), Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)),
		Request: req,
	}, nil
}

// ServeHTTP serves other processes, and SDKs of other languages. It checks no signatures. What is RoundTrip's own error breaks
// the connection.
func (db *DB) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	resp, err := db.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body) // a caller that has gone hears nothing, and that is all
}

func headers(body []byte) http.Header {
	return http.Header{
		"Content-Type":     {contentType},
		"X-Amzn-Requestid": {requestID},
		"X-Amz-Crc32":      {strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)},
	}
}

// respond runs the call that a request asks for.
func (db *DB) respond(ctx context.Context, wanted string, body []byte) (status int, answer []byte, err error) {
	operation, ok := strings.CutPrefix(wanted, target)
	run := operations[operation]
	switch {
	case !ok || run == nil:
		err = &smithy.GenericAPIError{Code: "UnknownOperationException", Message: "memdb does not support " + wanted}
	case len(body) > maxBody:
		err = &smithy.GenericAPIError{Code: "RequestEntityTooLarge", Message: "Request body is larger than 16 MB"}
	default:
		var out any
		if out, err = run(ctx, db, body); err == nil {
			return http.StatusOK, encode(out), nil
		}
	}
	var api smithy.APIError
	var lacking *UnsupportedError
	switch {
	case errors.As(err, &lacking):
		api = &smithy.GenericAPIError{Code: "ValidationException", Message: lacking.Error()}
	case !errors.As(err, &api):
		return 0, nil, err
	}
	return statusOf(api), exception(api), nil
}

// exception is an error in the protocol's form: its type, and its members.
func exception(err smithy.APIError) []byte {
	var b bytes.Buffer
	writeName(&b, 0, "__type")
	writeText(&b, namespace+err.ErrorCode())
	writeName(&b, 1, "message")
	writeText(&b, err.ErrorMessage())
	v := reflect.Indirect(reflect.ValueOf(err))
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; {
		case isAbsent(v.Field(i)):
		case name == "Item" || name == "CancellationReasons":
			writeName(&b, 1, name)
			writeJSON(&b, v.Field(i))
		case name == "ThrottlingReasons":
			writeName(&b, 1, "throttlingReasons")
			writeThrottling(&b, v.Field(i).Interface().([]types.ThrottlingReason))
		}
	}
	return append(append([]byte{'{'}, b.Bytes()...), '}')
}

// writeThrottling: these alone have names that begin with small letters.
func writeThrottling(b *bytes.Buffer, reasons []types.ThrottlingReason) {
	b.WriteByte('[')
	for i, r := range reasons {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"reason":`)
		writeText(b, aws.ToString(r.Reason))
		b.WriteString(`,"resource":`)
		writeText(b, aws.ToString(r.Resource))
		b.WriteByte('}')
	}
	b.WriteByte(']')
}

type operation func(ctx context.Context, db *DB, body []byte) (any, error)

func serving[In, Out any](call func(*DB, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)) operation {
	return func(ctx context.Context, db *DB, body []byte) (any, error) {
		in := new(In)
		if err := decode(body, in); err != nil {
			var api smithy.APIError
			var lacking *UnsupportedError
			if errors.As(err, &api) || errors.As(err, &lacking) {
				return nil, err
			}
			return nil, &smithy.GenericAPIError{Code: "SerializationException", Message: err.Error()}
		}
		return call(db, ctx, in)
	}
}

var operations = map[string]operation{
	"PutItem":               serving((*DB).PutItem),
	"UpdateItem":            serving((*DB).UpdateItem),
	"DeleteItem":            serving((*DB).DeleteItem),
	"GetItem":               serving((*DB).GetItem),
	"Query":                 serving((*DB).Query),
	"Scan":                  serving((*DB).Scan),
	"BatchGetItem":          serving((*DB).BatchGetItem),
	"TransactWriteItems":    serving((*DB).TransactWriteItems),
	"ExecuteStatement":      serving((*DB).ExecuteStatement),
	"BatchExecuteStatement": serving((*DB).BatchExecuteStatement),
	"CreateTable":           serving((*DB).CreateTable),
	"DescribeTable":         serving((*DB).DescribeTable),
	"DeleteTable":           serving((*DB).DeleteTable),
	"UpdateTimeToLive":      serving((*DB).UpdateTimeToLive),
}
