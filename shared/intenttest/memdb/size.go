package memdb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DynamoDB's limits (Amazon DynamoDB, "Constraints", and API Reference).
const (
	maxItem        = 400 << 10 // bytes, names and values
	maxPartition   = 2048      // bytes of a partition key's value
	maxSort        = 1024      // bytes of a sort key's value
	maxTransaction = 4 << 20   // bytes of all items of a transaction
	maxPage        = 1 << 20   // bytes that one Query reads
	maxAnswer      = 16 << 20  // bytes that one BatchGetItem answers

	maxActions    = 100 // of a transaction
	maxKeys       = 100 // of a BatchGetItem
	maxStatements = 25  // of a BatchExecuteStatement

	maxExpression    = 4096    // bytes of an expression
	maxStatement     = 8192    // bytes of a statement
	maxOperators     = 300     // operators and functions of an expression
	maxOperands      = 100     // of IN
	maxPath          = 32      // steps of a document path
	maxPlaceholder   = 255     // bytes of a placeholder's name, with its # or :
	maxSubstitutions = 2 << 20 // bytes of all placeholders, and what they stand for
	maxName          = 65535   // bytes of an attribute's name
	maxKeyName       = 255     // bytes of a key attribute's name
)

// sizeOf is the size of an item in bytes (Amazon DynamoDB, "Item sizes and
// formats").
func sizeOf(it item) int {
	size := 0
	for name, v := range it {
		size += len(name) + valueSize(v)
	}
	return size
}

func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		return 1
	}
	size := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		size = 3
		for _, element := range v.Value {
			size += 1 + valueSize(element)
		}
	case *types.AttributeValueMemberM:
		size = 3
		for name, element := range v.Value {
			size += 1 + len(name) + valueSize(element)
		}
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			size += len(s)
		}
	case *types.AttributeValueMemberNS:
		for _, n := range v.Value {
			size += numberSize(n)
		}
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			size += len(b)
		}
	}
	return size
}
