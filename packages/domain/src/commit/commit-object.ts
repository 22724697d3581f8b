import { isUtf8 } from 'node:buffer'
import { trimCharacters } from '../texts.js'
import { type Commit, offsetText, type Signature } from './commit.js'

/**
 * Parses a commit object. Texts that are not UTF-8, in a commit that names no other encoding, are
 * read as Latin-1. Bytes that are invalid in the encoding that it names become replacement characters.
 *
 * @throws Error when the content has no tree or no committer
 */
export function parseCommitObject(id: string, content: Uint8Array): Commit {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const found = bytes.indexOf('\n\n')
  const headerEnd = found < 0 ? bytes.length : found
  const headers = bytes.subarray(0, headerEnd)
  const { tree, parents, encoding, author, committer } = readHeaders(headers.toString())
  if (tree === undefined || committer === undefined) throw new Error(`${id} is not a commit`)
  const decode = decoderFor(encoding)
  const signatures =
    decode === readableText && isUtf8(headers)
      ? { author: parseSignature(author ?? committer), committer: parseSignature(committer) }
      : readSignatures(headers.toString('latin1'), decode)
  return {
    id,
    treeId: tree,
    parentIds: parents,
    ...signatures,
    message: decode(bytes.subarray(Math.min(headerEnd + 2, bytes.length))),
  }
}

export interface NewCommit extends Omit<Commit, 'id'> {}

/** Returns the content of a commit object. The message is stored unchanged. */
export function formatCommitObject({ treeId, parentIds, author, committer, message }: NewCommit): Uint8Array {
  const lines = [
    `tree ${treeId}`,
    ...parentIds.map((parent) => `parent ${parent}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
  ]
  return new TextEncoder().encode(`${lines.join('\n')}\n\n${message}`)
}

interface Headers {
  parents: string[]
  tree?: string
  author?: string
  committer?: string
  encoding?: string
}

/** Returns the first value of each header. Continuation lines, which start with a blank, are skipped. */
function readHeaders(text: string): Headers {
  const headers: Headers = { parents: [] }
  for (const line of text.split('\n')) {
    const blank = line.indexOf(' ')
    const name = blank < 0 ? line : line.slice(0, blank)
    const value = blank < 0 ? '' : line.slice(blank + 1)
    if (name === 'parent') headers.parents.push(value)
    else if (name === 'tree' || name === 'author' || name === 'committer' || name === 'encoding')
      headers[name] ??= value
  }
  return headers
}

type Decode = (bytes: Buffer) => string

function decoderFor(label: string | undefined): Decode {
  if (label === undefined || /^utf-?8$/i.test(label)) return readableText
  try {
    const decoder = new TextDecoder(label, { ignoreBOM: true })
    return (bytes) => decoder.decode(bytes)
  } catch {
    return readableText
  }
}

/**
 * Parses the signatures of a commit that is not UTF-8. Signatures in another encoding are parsed as Latin-1,
 * one character for each byte, and decoded afterwards, because some encodings use the bytes of `<` and `>`.
 */
function readSignatures(headers: string, decode: Decode) {
  const { author, committer = '' } = readHeaders(headers)
  if (decode === readableText) {
    const readable = (text: string) => parseSignature(readableText(Buffer.from(text, 'latin1')))
    return { author: readable(author ?? committer), committer: readable(committer) }
  }
  const decoded = ({ name, email, ...when }: Signature): Signature => ({
    name: decode(Buffer.from(name, 'latin1')),
    email: decode(Buffer.from(email, 'latin1')),
    ...when,
  })
  return {
    author: decoded(parseSignature(author ?? committer)),
    committer: decoded(parseSignature(committer)),
  }
}

function parseSignature(text: string): Signature {
  const open = text.indexOf('<')
  const close = text.lastIndexOf('>')
  const when = /^\s*(\d{1,15})(?:\s+([+-]\d{4,}))?/.exec(text.slice(close + 1))
  return {
    name: text.slice(0, Math.max(0, open)).trim(),
    email: open < 0 ? '' : text.slice(open + 1, close < open ? undefined : close),
    seconds: Number(when?.[1] ?? 0),
    offsetMinutes: minutesOf(when?.[2] ?? '+0000'),
  }
}

/** Parses an offset such as `+0530`. An offset of a day or more, as broken tools write it, counts as 0. */
function minutesOf(zone: string): number {
  const minutes = Number(zone.slice(1, -2)) * 60 + Number(zone.slice(-2))
  if (minutes >= 24 * 60) return 0
  return zone.startsWith('-') ? -minutes || 0 : minutes
}

export interface NewTagObject {
  name: string
  /** Id of the commit. */
  target: string
  tagger: Signature
  message: string
}

/** Returns the content of the object of an annotated tag; the message ends with one line end. */
export function formatTagObject({ name, target, tagger, message }: NewTagObject): Uint8Array {
  const lines = [`object ${target}`, 'type commit', `tag ${name}`, `tagger ${formatSignature(tagger)}`]
  return new TextEncoder().encode(`${lines.join('\n')}\n\n${message.trim()}\n`)
}

function formatSignature({ name, email, seconds, offsetMinutes }: Signature): string {
  return `${signatureText(name)} <${signatureText(email)}> ${seconds} ${offsetText(offsetMinutes)}`
}

const punctuation = `.,:;"'\\`

/**
 * Returns a name or an address in the form in which a commit stores it: as in git, without angle brackets,
 * without line breaks, and without punctuation at both ends. The result may be empty.
 */
export function signatureText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL would end the header.
  const clean = text.replace(/[<>\n\r\x00]/g, '')
  return trimCharacters(clean, (character) => character <= ' ' || punctuation.includes(character))
}

/**
 * Decodes bytes as UTF-8 if they are valid, otherwise as Latin-1 with one character for each byte, so that
 * nothing is lost.
 */
export const readableText = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
