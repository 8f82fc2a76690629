"""Prints template.yaml as CloudFormation runs it: SAM's transform, with the parameters that are given as Name=Value, and each Fn::If as one
of its two values. What cdk-nag finds in a policy it does not find in one that may be there."""
import json
import logging
import os
import sys
from unittest.mock import MagicMock

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

logging.disable()  # of features that SAM itself may turn on
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")
with open(sys.argv[1], encoding="utf-8") as file:
    template = yaml_parse(file.read())
# What `sam deploy` puts in the place of the folder.
template["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
policies = MagicMock()  # of AWS's managed policies; the template names none
policies.load.return_value = {}
parameters = dict(given.split("=", 1) for given in sys.argv[2:])
translated = transform(template, parameters, policies)

values = {name: str(p.get("Default", "")) for name, p in translated["Parameters"].items()} | parameters


def holds(condition):
    """Evaluates what conditions are made of."""
    (function, arguments), = condition.items()
    if function == "Condition":
        return holds(translated["Conditions"][arguments])
    if function == "Fn::Equals":
        one, other = (values[a["Ref"]] if isinstance(a, dict) else str(a) for a in arguments)
        return one == other
    return {"Fn::Not": lambda all: not all[0], "Fn::And": all, "Fn::Or": any}[function]([holds(c) for c in arguments])


NO_VALUE = {"Ref": "AWS::NoValue"}


def chosen(node):
    """Replaces each Fn::If, and leaves out what has no value."""
    if isinstance(node, dict) and list(node) == ["Fn::If"]:
        condition, then, otherwise = node["Fn::If"]
        return chosen(then if holds({"Condition": condition}) else otherwise)
    if isinstance(node, dict):
        pairs = ((key, chosen(value)) for key, value in node.items())
        return {key: value for key, value in pairs if value != NO_VALUE}
    if isinstance(node, list):
        return [value for value in map(chosen, node) if value != NO_VALUE]
    return node


translated["Resources"] = chosen(translated["Resources"])
json.dump(translated, sys.stdout)
