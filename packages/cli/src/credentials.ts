import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { exitCodes, Failure, usageFailure } from './failure.js'

/** The address of an installation, and the token for it. */
export interface Connection {
  /** Address without a slash at its end. */
  url: string
  token: string
}

export type Environment = Readonly<Record<string, string | undefined>>

export const credentialsFile = (env: Environment) =>
  join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'switchyard', 'credentials.json')

/**
 * Returns the address and the token of the environment, otherwise those that `login` has stored. A stored
 * token is only sent to the address for which it was stored.
 *
 * @param given the address of `--url`
 */
export function getConnection(env: Environment, given?: string): Connection {
  const kept = readCredentials(env)
  const wanted = given || env.SWITCHYARD_URL
  const url = wanted ? normalUrl(wanted) : kept?.url
  if (!url)
    throw new Failure(
      'no address is known: run "switchyard login ADDRESS", or set SWITCHYARD_URL',
      exitCodes.notSignedIn,
    )
  const token = env.SWITCHYARD_TOKEN?.trim() || (kept?.url === url ? kept.token : undefined)
  if (!token)
    throw new Failure(
      `no token for ${url} is known: run "switchyard login ${url}", or set SWITCHYARD_TOKEN`,
      exitCodes.notSignedIn,
    )
  if (!isToken(token)) throw usageFailure('SWITCHYARD_TOKEN is no token: it has characters that none has')
  return { url, token }
}

/**
 * Returns whether a text can be sent in a header. No message repeats a text that cannot, because it may be
 * most of a secret.
 */
export const isToken = (text: string) => /^[\x21-\x7e]+$/.test(text)

/** Normalizes an address: its scheme, host and path, without a slash at the end or `/api/v4`. */
export function normalUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw usageFailure('the address is no URL: write it like https://switchyard.example.com')
  if (url.username || url.password)
    throw usageFailure('the address has a password in it: write it without, and sign in with a token')
  let path = url.pathname
  while (path.endsWith('/')) path = path.slice(0, -1)
  return url.origin + (path.endsWith('/api/v4') ? path.slice(0, -'/api/v4'.length) : path)
}

/**
 * Reads the stored credentials.
 *
 * @returns undefined when nobody has signed in
 */
export function readCredentials(env: Environment): Connection | undefined {
  const file = credentialsFile(env)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const { url, token } = parsed(text)
  if (typeof url !== 'string' || typeof token !== 'string' || !isToken(token))
    throw new Failure(`${file} is damaged: run "switchyard login" again`, exitCodes.failed)
  return { url, token }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** Writes the credentials by a rename, so that the old file stays whole for readers and on a full disk. */
export function writeCredentials(env: Environment, connection: Connection): string {
  const file = credentialsFile(env)
  makeFolder(dirname(file))
  const partial = `${file}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(partial, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(partial, file)
  } finally {
    rmSync(partial, { force: true })
  }
  return file
}

/**
 * Creates a folder. Node's own `recursive` never returns when no folder can be created, such as below /proc.
 */
function makeFolder(folder: string): void {
  // A missing drive is its own parent.
  if (existsSync(folder) || dirname(folder) === folder) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new Failure(
        `${folder}: no folder can be made here; XDG_CONFIG_HOME names another place for the token`,
        exitCodes.failed,
      )
    // Another login has created the folder meanwhile.
    if (code !== 'EEXIST') throw error
  }
}

export const removeCredentials = (env: Environment) => rmSync(credentialsFile(env), { force: true })
