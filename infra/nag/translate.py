"""Prints template.yaml as CloudFormation runs it: SAM's transform, with the parameters that are given as Name=Value."""
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
json.dump(transform(template, parameters, policies), sys.stdout)
