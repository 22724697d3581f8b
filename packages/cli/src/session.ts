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

/** Tells a person, beside what the command prints for others. */
export const say = (line: string) => void process.stderr.write(`${line}\n`)

/** Tells a person why nothing happens. */
export const sayWaiting = (line: string) => say(`• ${oneLine(line)}`)

export interface Session {
  api: Api
  url: string
  isJson: boolean
  /** Prints what was done or found: the JSON of the API for programs, a text for people. */
  show(value: unknown, text: string): void
}

/** The API at the address, and with the token, that a command is to use. */
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

/** Examples below the options of a command; each line is a call without the name of the command. */
export const examples = (...lines: string[]) =>
  `\nExamples:\n${lines.map((line) => `  switchyard ${line}`).join('\n')}`

export const tenantOption = () =>
  new Option('-t, --tenant <tenant>', 'whose sagas; else "default"').env('SWITCHYARD_TENANT')

/** A number of the command line. */
export function number(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It is no number.')
  return value
}

/** A whole number of the command line, above 0. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It is no whole number above 0.')
  return Number(text)
}
