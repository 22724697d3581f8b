import type { FieldProblems } from '../errors.js'
import { tooLongText, trimCharacters } from '../texts.js'

const pathRule =
  "can contain only letters, digits, '_', '-' and '.'. It must not start with '-' or '.', nor end in '-', '.', '.git' or '.atom'"
const pathShape = /^[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?$/
const reservedEnding = /\.(?:git|atom)$/i

/** First path segments that are reserved for the gateway and the console, in lower case. */
const reservedUsernames = new Set(
  `- .well-known admin api assets console dashboard explore favicon.ico groups health health_check help import jwt
  login logout metrics oauth profile projects public robots.txt root s search session sidekiq sign-in snippets
  uploads users v2`.split(/\s+/),
)

const isReserved = (username: string) => reservedUsernames.has(username.toLowerCase())

const lengthMax = 255
const tooLong = tooLongText(lengthMax)

// biome-ignore lint/suspicious/noControlCharactersInRegex: names with them break logs and commit headers.
const control = /[\u0000-\u001f\u007f]/

export interface UserNames {
  username: string
  name: string
  email: string
}

/** Problems of the names of a new user, by field. */
export function userProblems({ username, name, email }: UserNames): FieldProblems {
  const reserved = isReserved(username) ? ['is a reserved name'] : []
  return withoutEmpty({
    username: [...pathProblems(username), ...reserved],
    name: textProblems(name),
    email: emailProblems(email),
  })
}

/** Returns whether a user may have this name. The name `root` of the first administrator is allowed. */
export const mayBeUsername = (name: string): boolean =>
  pathProblems(name).length === 0 && (!isReserved(name) || name.toLowerCase() === 'root')

export interface ProjectNames {
  name: string
  path: string
}

const projectNameRule =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'"
const projectNameShape = /^[\p{L}\p{N}_\p{Extended_Pictographic}][\u200d\p{L}\p{N}\p{M}\p{Emoji}_.+ -]*$/u

/** Problems of the names of a new project, by field. */
export function projectProblems({ name, path }: ProjectNames): FieldProblems {
  return withoutEmpty({
    name: shapeProblems(name, (text) => (projectNameShape.test(text) ? [] : [projectNameRule])),
    path: pathProblems(path),
  })
}

/**
 * Returns the path of a project whose creator gives none, made from its name: `My Project!` becomes
 * `my-project`. A long name is cut.
 */
export const pathOfName = (name: string): string =>
  trimCharacters(
    name
      .slice(0, lengthMax)
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .replace(/[^a-z0-9_.]+/g, '-'),
    (character) => character === '-' || character === '.',
  )

const pathProblems = (path: string) =>
  shapeProblems(path, (text) => (pathShape.test(text) && !reservedEnding.test(text) ? [] : [pathRule]))

const textProblems = (text: string) =>
  shapeProblems(text, (checked) => (control.test(checked) ? ['is invalid'] : []))

/** Angle brackets delimit the address in the header of a commit, so no address may contain them. */
const emailProblems = (email: string) =>
  shapeProblems(email, (text) =>
    control.test(text) || !/^[^@\s<>]+@[^@\s<>]+$/.test(text) ? ['is invalid'] : [],
  )

/**
 * Returns the problems of a text. Checks the length first, because the other checks of a long text are slow.
 */
const shapeProblems = (text: string, problemsOf: (text: string) => string[]): string[] =>
  text.length > lengthMax ? [tooLong] : problemsOf(text)

const withoutEmpty = (problems: FieldProblems): FieldProblems =>
  Object.fromEntries(Object.entries(problems).filter(([, texts]) => texts.length > 0))
