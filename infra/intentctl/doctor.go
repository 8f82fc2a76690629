package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/singleeffect/once/infra/doctor"
	"github.com/singleeffect/once/infra/template"
)

type doctorVerb struct {
	output
	Template           string   `short:"t" default:"template.yaml" placeholder:"FILE" help:"The template, of CloudFormation or SAM."`
	ParameterOverrides []string `sep:"none" placeholder:"NAME=VALUE" help:"A value of one of the template's parameters. May be repeated."`
	Function           []string `placeholder:"ID" help:"Judge this function, although it has no tag EffectClass or no SQS event. May be repeated."`
}

// Help is shown by doctor --help.
func (doctorVerb) Help() string {
	return `A function is judged if it has the tag EffectClass and an SQS event. What cannot be judged is listed with its reason, and changes nothing about the
exit status.

Examples:
  intentctl doctor
  intentctl doctor --template packaged.yaml --parameter-overrides RetentionDays=60 --parameter-overrides BatchSize=5
  intentctl doctor --output json`
}

// Run prints what is found and what is not judged.
func (d doctorVerb) Run(stdout io.Writer) error {
	parameters := map[string]string{}
	for _, override := range d.ParameterOverrides {
		name, value, ok := strings.Cut(override, "=")
		if !ok {
			return fmt.Errorf("parameter override %q: it must be Name=Value", override)
		}
		parameters[name] = value
	}
	file, err := os.Open(d.Template)
	if err != nil {
		return err
	}
	defer file.Close()
	parsed, err := template.Parse(file, template.Options{Parameters: parameters, Lenient: true})
	if err != nil {
		return fmt.Errorf("%s: %w", d.Template, err)
	}
	if err := known(parsed, d.Function); err != nil {
		return err
	}
	findings, notes := doctor.Judge(doctor.Stack{Template: parsed}, d.Function...)
	if err := d.print(stdout, findings, notes); err != nil {
		return err
	}
	if len(findings) > 0 {
		return errAct
	}
	return nil
}

// known checks that the template has the functions that are asked for.
func known(t template.Template, asked []string) error {
	there := map[string]bool{}
	for _, f := range t.Functions {
		there[f.LogicalID] = true
	}
	for _, id := range asked {
		if !there[id] {
			return fmt.Errorf("the template has no function %q", id)
		}
	}
	return nil
}

func (d doctorVerb) print(stdout io.Writer, findings []doctor.Finding, notes []doctor.Note) error {
	if d.Output == "json" {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Findings []doctor.Finding `json:"findings"`
			Notes    []doctor.Note    `json:"not_judged"`
		}{append([]doctor.Finding{}, findings...), append([]doctor.Note{}, notes...)})
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(table, "found\t%s\t%s\t%s\n", f.Resource, f.Rule, f.Message)
	}
	for _, n := range notes {
		fmt.Fprintf(table, "not judged\t%s\t%s\t%s\n", n.Resource, n.What, n.Why)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "%d found, %d not judged\n", len(findings), len(notes))
	return err
}
