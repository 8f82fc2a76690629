package template

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
)

// Expression is the metric math of an alarm: + - * / and parentheses over metrics' ids and numbers, FILL(series, number) and
// DIFF(series). CloudWatch knows more (Amazon CloudWatch user guide, "Using math expressions with CloudWatch metrics"); what is not
// known here is an error. What is known is Go's syntax too.
type Expression struct {
	text string
	root ast.Expr
}

func (e *Expression) String() string { return e.text }

// ParseExpression reads an expression.
func ParseExpression(text string) (*Expression, error) {
	root, err := parser.ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no expression that is known here: %w", text, err)
	}
	if err := known(root); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return &Expression{text: text, root: root}, nil
}

// known returns an error for what evaluate has no case for.
func known(n ast.Expr) error {
	operands := []ast.Expr{}
	switch n := n.(type) {
	case *ast.Ident:
	case *ast.BasicLit:
		if _, err := strconv.ParseFloat(n.Value, 64); err != nil {
			return fmt.Errorf("%s is no number", n.Value)
		}
	case *ast.ParenExpr:
		operands = append(operands, n.X)
	case *ast.BinaryExpr:
		if !slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL, token.QUO}, n.Op) {
			return fmt.Errorf("operator %s is not known here", n.Op)
		}
		operands = append(operands, n.X, n.Y)
	case *ast.CallExpr:
		name, _ := n.Fun.(*ast.Ident)
		switch {
		case name != nil && name.Name == "DIFF" && len(n.Args) == 1:
		case name != nil && name.Name == "FILL" && len(n.Args) == 2:
			if _, number := n.Args[1].(*ast.BasicLit); !number {
				return fmt.Errorf("FILL is known with a number alone")
			}
		default:
			return fmt.Errorf("known calls are DIFF of one series, and FILL of a series and a number")
		}
		operands = append(operands, n.Args...)
	default:
		return fmt.Errorf("a %T is not known here", n)
	}
	for _, o := range operands {
		if err := known(o); err != nil {
			return err
		}
	}
	return nil
}

// IDs are the metrics that the expression reads, sorted.
func (e *Expression) IDs() []string {
	var ids []string
	ast.Inspect(e.root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, argument := range n.Args {
				ids = append(ids, (&Expression{root: argument}).IDs()...)
			}
			return false
		case *ast.Ident:
			ids = append(ids, n.Name)
		}
		return true
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Series evaluates the expression for as many periods on end, the oldest first. A value that is missing is NaN, there and in what is
// returned; a metric that is not there has none. A quotient by 0 is missing.
func (e *Expression) Series(periods int, metrics map[string][]float64) []float64 {
	return evaluate(e.root, periods, metrics)
}

func evaluate(n ast.Expr, periods int, metrics map[string][]float64) []float64 {
	values := make([]float64, periods)
	each := func(value func(i int) float64) []float64 {
		for i := range values {
			values[i] = value(i)
		}
		return values
	}
	switch n := n.(type) {
	case *ast.ParenExpr:
		return evaluate(n.X, periods, metrics)
	case *ast.BasicLit:
		number, _ := strconv.ParseFloat(n.Value, 64)
		return each(func(int) float64 { return number })
	case *ast.BinaryExpr:
		x, y := evaluate(n.X, periods, metrics), evaluate(n.Y, periods, metrics)
		return each(func(i int) float64 { return operate(n.Op, x[i], y[i]) })
	case *ast.CallExpr:
		x := evaluate(n.Args[0], periods, metrics)
		if n.Fun.(*ast.Ident).Name == "DIFF" {
			return difference(x)
		}
		filler := evaluate(n.Args[1], periods, metrics)
		return each(func(i int) float64 {
			if math.IsNaN(x[i]) {
				return filler[i]
			}
			return x[i]
		})
	default:
		series := metrics[n.(*ast.Ident).Name]
		return each(func(i int) float64 {
			if i < len(series) {
				return series[i]
			}
			return math.NaN()
		})
	}
}

func operate(op token.Token, x, y float64) float64 {
	switch {
	case op == token.ADD:
		return x + y
	case op == token.SUB:
		return x - y
	case op == token.MUL:
		return x * y
	case y == 0:
		return math.NaN()
	default:
		return x / y
	}
}

// difference is each value less the one before it that is not missing.
func difference(x []float64) []float64 {
	values := make([]float64, len(x))
	before := math.NaN()
	for i, value := range x {
		values[i] = value - before
		if !math.IsNaN(value) {
			before = value
		}
	}
	return values
}
