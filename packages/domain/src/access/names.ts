import type { FieldProblems } from '../errors.js'

const pathRule =
  "can contain only letters, digits, '_', '-' and '.'. It must not start with '-' or '.', nor end in '-', '.', '.git' or '.atom'"
const pathShape = /^[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?$/
const reservedEnding = /\.(?:git|atom)$/i

/** First path segments that the gateway or the console may need. */
const reservedUsernames = new Set(
  `admin api assets console dashboard explore groups health_check help import jwt login logout metrics oauth
  profile projects public root s search sidekiq snippets uploads users v2`.split(/\s+/),
)

const lengthMax = 255
const tooLong = `is too long (maximum is ${lengthMax} characters)`

// biome-ignore lint/suspicious/noControlCharactersInRegex: names with them break logs and commit headers.
const control = /[\u0000-\u001f\u007f]/

export interface UserNames {
  username: string
  name: string
  email: string
}

/** What is wrong with the names of a new user, by field; empty when nothing is. */
export function userProblems({ username, name, email }: UserNames): FieldProblems {
  const reserved = reservedUsernames.has(username.toLowerCase()) ? ['is a reserved name'] : []
  return withoutEmpty({
    username: [...pathProblems(username), ...reserved],
    name: textProblems(name),
    email: emailProblems(email),
  })
}

export interface ProjectNames {
  name: string
  path: string
}

const projectNameRule =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'"
const projectNameShape =
  /^(?:[\p{L}\p{N}_]|\p{Extended_Pictographic})(?:[\p{L}\p{N}_.+ -]|\p{M}|\p{Emoji}|\u200d)*$/u

/** What is wrong with the names of a new project, by field; empty when nothing is. */
export function projectProblems({ name, path }: ProjectNames): FieldProblems {
  const badName = projectNameShape.test(name) ? [] : [projectNameRule]
  return withoutEmpty({
    name: [...badName, ...(name.length > lengthMax ? [tooLong] : [])],
    path: pathProblems(path),
  })
}

/** The path of a project that was given a name alone: `My Project!` becomes `my-project`. */
export const pathOfName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9_.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')

function pathProblems(path: string): string[] {
  const badShape = !pathShape.test(path) || reservedEnding.test(path)
  return [...(badShape ? [pathRule] : []), ...(path.length > lengthMax ? [tooLong] : [])]
}

function textProblems(text: string): string[] {
  return [...(control.test(text) ? ['is invalid'] : []), ...(text.length > lengthMax ? [tooLong] : [])]
}

/** Angle brackets end an address in a commit's header, so no address may hold them. */
function emailProblems(email: string): string[] {
  const badShape = control.test(email) || !/^[^@\s<>]+@[^@\s<>]+$/.test(email)
  return [...(badShape ? ['is invalid'] : []), ...(email.length > lengthMax ? [tooLong] : [])]
}

const withoutEmpty = (problems: FieldProblems): FieldProblems =>
  Object.fromEntries(Object.entries(problems).filter(([, texts]) => texts.length > 0))
