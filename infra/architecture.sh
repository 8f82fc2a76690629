#!/bin/sh
# Prints the Architecture that was asked of SAM, or arm64, the template's default.
#
# SAM hands `make` no template parameter: only its own environment and ARTIFACTS_DIR. So the value is read where SAM read it: off
# the command line of the sam process above us, else from samconfig.toml, where `sam deploy --guided` saves it. Two different values
# in samconfig.toml (two environments, say) are both printed, and the Makefile refuses them. A value that is in neither place, such
# as in a file that --parameter-overrides names, is not seen: set ARCHITECTURE.
set -eu

# Of the words on standard input, in any of SAM's spellings, the values of Architecture.
values() {
	tr -d "\\\\\"'" |
		sed -e 's/ParameterKey=\([^, ]*\),ParameterValue=/\1=/g' -e 's/parameter[-_]overrides=/ /g' |
		tr ' \t,[]' '\n\n\n\n\n' | sed -n 's/^Architecture=//p' | sort -u
}

# What process $1 was started with; on Linux without ps, which small images lack.
arguments() {
	if [ -r "/proc/$1/cmdline" ]; then tr '\0' ' ' <"/proc/$1/cmdline"; else ps -ww -o args= -p "$1"; fi
}

parent() {
	if [ -r "/proc/$1/status" ]; then sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"; else ps -o ppid= -p "$1" | tr -d ' '; fi
}

pid=$PPID
while [ "${pid:-0}" -gt 1 ]; do
	line=$(arguments "$pid" || true)
	case $line in
	*--parameter-overrides*)
		found=$(printf '%s\n' "$line" | values)
		if [ -n "$found" ]; then
			echo "$found"
			exit
		fi
		;;
	esac
	pid=$(parent "$pid" || true)
done

found=
if [ -f samconfig.toml ]; then found=$(sed '/^[[:space:]]*#/d' samconfig.toml | values); fi
echo "${found:-arm64}"
