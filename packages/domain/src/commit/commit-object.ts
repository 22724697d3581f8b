import { type Commit, offsetText, type Signature } from './commit.js'

/**
 * Reads the content of a commit object. Texts that are not valid in the encoding they claim keep what
 * can be read, with replacement characters.
 *
 * @throws Error when it has no tree or committer: then it is no commit
 */
export function parseCommitObject(id: string, content: Uint8Array): Commit {
  const headerEnd = endOfHeader(content)
  const headers = headerLines(latin1.decode(content.subarray(0, headerEnd)))
  const decode = decoderFor(headers.find(([name]) => name === 'encoding')?.[1])
  const value = (name: string) => headers.find(([header]) => header === name)?.[1]
  const tree = value('tree')
  const author = value('author')
  const committer = value('committer')
  if (tree === undefined || committer === undefined) throw new Error(`${id} is not a commit`)
  return {
    id,
    treeId: tree,
    parentIds: headers.filter(([name]) => name === 'parent').map(([, parent]) => parent),
    author: parseSignature(author ?? committer, decode),
    committer: parseSignature(committer, decode),
    message: decode(content.subarray(headerEnd + 2)),
  }
}

export interface NewCommit extends Omit<Commit, 'id'> {}

/** The content of a commit object; the message is stored exactly as given. */
export function formatCommitObject({ treeId, parentIds, author, committer, message }: NewCommit): Uint8Array {
  const lines = [
    `tree ${treeId}`,
    ...parentIds.map((parent) => `parent ${parent}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
  ]
  return new TextEncoder().encode(`${lines.join('\n')}\n\n${message}`)
}

const latin1 = new TextDecoder('latin1')

function endOfHeader(content: Uint8Array): number {
  for (let at = 0; at + 1 < content.length; at += 1) {
    if (content[at] === 10 && content[at + 1] === 10) return at
  }
  return content.length
}

/** Name and value of each header; lines of a signature continue with a blank and are left out. */
function headerLines(text: string): [string, string][] {
  return text
    .split('\n')
    .filter((line) => !line.startsWith(' '))
    .map((line) => {
      const blank = line.indexOf(' ')
      return blank < 0 ? [line, ''] : [line.slice(0, blank), line.slice(blank + 1)]
    })
}

type Decode = (bytes: Uint8Array) => string

function decoderFor(label: string | undefined): Decode {
  try {
    const decoder = new TextDecoder(label ?? 'utf-8', { ignoreBOM: true })
    return (bytes) => decoder.decode(bytes)
  } catch {
    return decoderFor(undefined)
  }
}

/** Header values were read as Latin-1, so each character is one byte of the original. */
const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))

function parseSignature(text: string, decode: Decode): Signature {
  const open = text.indexOf('<')
  const close = text.lastIndexOf('>')
  const when = /^\s*(\d{1,15})(?:\s+([+-])(\d{2,})(\d{2}))?/.exec(text.slice(close + 1))
  const minutes = Number(when?.[3] ?? 0) * 60 + Number(when?.[4] ?? 0)
  return {
    name: decode(bytesOf(text.slice(0, Math.max(0, open)).trim())),
    email: decode(bytesOf(open < 0 ? '' : text.slice(open + 1, close < open ? undefined : close))),
    seconds: Number(when?.[1] ?? 0),
    // Broken tools have written offsets beyond a day; they mean nothing.
    offsetMinutes: minutes < 24 * 60 ? (when?.[2] === '-' ? -minutes || 0 : minutes) : 0,
  }
}

function formatSignature({ name, email, seconds, offsetMinutes }: Signature): string {
  return `${withoutCrud(name)} <${withoutCrud(email)}> ${seconds} ${offsetText(offsetMinutes)}`
}

/** What git itself removes from names: brackets, line ends, and punctuation around them. */
function withoutCrud(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL would end the header.
  const clean = text.replace(/[<>\n\r\x00]/g, '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git trims everything up to the blank.
  return clean.replace(/^[\x00-\x20.,:;"'\\]+|[\x00-\x20.,:;"'\\]+$/g, '')
}
