import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Api, createApi } from './api.js'
import { type Environment, getConnection } from './credentials.js'
import { oneLine, safeJson } from './output.js'

interface GlobalOptions {
  url?: string
  json?: boolean
}

/** The variables that docs/command-line.md lists. */
export const environment: Environment = process.env

/** Prints a line for a person, beside the output for programs. */
export const say = (line: string) => void process.stderr.write(`${line}\n`)

/** Tells a person why the command waits. */
export const sayWaiting = (line: string) => say(`• ${oneLine(line)}`)

export interface Session {
  api: Api
  url: string
  isJson: boolean
  /** Prints the result: the JSON of the API for programs, a text for people. */
  show(value: unknown, text: string): void
}

/** Returns the API for the address and the token of a command. */
export function sessionOf(command: Command): Session {
  const { url: given, json: isJson = false } = command.optsWithGlobals<GlobalOptions>()
  const connection = getConnection(environment, given)
  return {
    api: createApi(connection, sayWaiting),
    url: connection.url,
    isJson,
    show: (value, text) => void process.stdout.write(`${isJson ? safeJson(value, 2) : text}\n`),
  }
}

export const projectOption = () =>
  new Option('-p, --project <project>', 'its full path or its id')
    .env('SWITCHYARD_PROJECT')
    .makeOptionMandatory()

/** Returns examples below the options of a command. Each line is a call without the name of the command. */
export const examples = (...lines: string[]) =>
  `\nExamples:\n${lines.map((line) => `  switchyard ${line}`).join('\n')}`

export const tenantOption = () =>
  new Option('-t, --tenant <tenant>', 'whose sagas; else "default"').env('SWITCHYARD_TENANT')

/** Parses a number of the command line. */
export function number(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It is no number.')
  return value
}

/** Parses a whole number above 0 of the command line. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It is no whole number above 0.')
  return Number(text)
}
