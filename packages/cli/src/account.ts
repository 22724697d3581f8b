import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { scopes } from '@switchyard/domain/access'
import { type Command, Option } from 'commander'
import { type Api, createApi, dataOf, type Schemas } from './api.js'
import { loginByBrowser } from './browser-login.js'
import { isToken, normalUrl, readCredentials, removeCredentials, writeCredentials } from './credentials.js'
import { exitCodes, Failure, usageFailure } from './failure.js'
import { facts, instant, oneLine } from './output.js'
import { environment, examples, say, sayWaiting, sessionOf } from './session.js'

export function addAccountCommands(program: Command): void {
  program
    .command('login')
    .argument('[address]', 'of the instance; else SWITCHYARD_URL, or the one of the last login')
    .description('Sign in, by the browser or with a token, which is kept for this user of this machine')
    .addOption(new Option('--browser', 'by a page that you open, also on another machine').conflicts('token'))
    .addOption(new Option('--token', 'with a token that you have'))
    .addOption(
      new Option('--scope <scope...>', 'what the token of the browser may do')
        .choices(scopes)
        .default(['api']),
    )
    .addHelpText(
      'after',
      `\nWithout an option: by the browser at a terminal, where the instance allows it. A token is asked for without being shown, or
read from standard input; it is no argument, since others see those.\n${examples(
        'login https://switchyard.example.com',
        'login https://switchyard.example.com --scope api read_sagas',
        'login http://localhost:8080 < .switchyard/root-token',
      )}`,
    )
    .action((address: string | undefined, options: LoginOptions, command: Command) =>
      signIn(command, address, options),
    )
  program
    .command('logout')
    .description('Forget the kept token')
    .addOption(new Option('--revoke', 'also end the token at the instance, wherever else it is used'))
    .addHelpText('after', examples('logout', 'logout --revoke'))
    .action((options: { revoke?: boolean }) => signOut(options.revoke ?? false))
  program
    .command('whoami')
    .description('Show the user, the scopes and the end of the token')
    .addHelpText('after', examples('whoami', 'whoami --json'))
    .action(async (_options, command: Command) => {
      const { api, url, show } = sessionOf(command)
      const found = await readSelf(api)
      show(found, facts({ address: url, ...describeSelf(found) }))
    })
}

interface LoginOptions {
  browser?: boolean
  token?: boolean
  scope: string[]
}

async function signIn(command: Command, address: string | undefined, options: LoginOptions) {
  const { url: given } = command.optsWithGlobals<{ url?: string }>()
  const wanted = address ?? given ?? (environment.SWITCHYARD_URL || readCredentials(environment)?.url)
  if (!wanted) throw usageFailure('name the address: switchyard login https://switchyard.example.com')
  const url = normalUrl(wanted)
  const token = (await allowedToken(url, options)) ?? (await givenToken(url))
  const found = await readSelf(createApi({ url, token }, sayWaiting))
  const file = writeCredentials(environment, { url, token })
  say(
    `✓ signed in to ${url} as ${oneLine(found.user?.username ?? `user ${found.token.user_id}`)}; the token is in ${file}`,
  )
  if (environment.SWITCHYARD_TOKEN) say('• SWITCHYARD_TOKEN is set, and is used instead of it')
}

/** Returns the token that a person allows in a browser; undefined when the person enters a token instead. */
async function allowedToken(url: string, { browser, token, scope }: LoginOptions) {
  if (token || !(browser || process.stdin.isTTY)) return undefined
  const allowed = await loginByBrowser(url, scope)
  if (allowed === undefined && browser)
    throw new Failure(
      `${url} does not sign in programs by the browser: sign in with a token, or ask its operator (DEVICE_TOKEN_LIFETIME_DAYS)`,
      exitCodes.notFound,
    )
  return allowed
}

async function givenToken(url: string): Promise<string> {
  const token = (
    process.stdin.isTTY ? await askHidden(`Token for ${url}: `) : await text(process.stdin)
  ).trim()
  if (!isToken(token)) throw usageFailure('this is no token: give it alone, in one line')
  return token
}

async function signOut(isRevoked: boolean) {
  const kept = readCredentials(environment)
  if (!kept) return say('✓ no token was kept')
  if (isRevoked) await revoke(createApi(kept, sayWaiting))
  removeCredentials(environment)
  say(`✓ signed out of ${kept.url}${isRevoked ? ', and its token is revoked' : ''}`)
}

/** Revokes a token. Does nothing for an expired one. */
async function revoke(api: Api) {
  try {
    await api.DELETE('/personal_access_tokens/self')
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== exitCodes.notSignedIn) throw error
  }
}

interface Self {
  token: Schemas['Token']
  /** Null: the token may not read its user. */
  user: Pick<Schemas['User'], 'username' | 'name' | 'is_admin'> | null
}

async function readSelf(api: Api): Promise<Self> {
  const token = await dataOf(api.GET('/personal_access_tokens/self'))
  try {
    return { token, user: await dataOf(api.GET('/user')) }
  } catch (error) {
    if (error instanceof Failure && error.exitCode === exitCodes.forbidden) return { token, user: null }
    throw error
  }
}

const describeSelf = ({ token, user }: Self) => ({
  user: user?.username ?? token.user_id,
  name: user?.name,
  administrator: user?.is_admin ? 'yes' : undefined,
  token: token.name,
  scopes: token.scopes.join(', '),
  tenants: token.tenants?.join(', '),
  'last used': instant(token.last_used_at),
  expires: token.expires_at ?? 'never',
})

/** Asks for a line that is not shown while it is typed. */
async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output: unseen, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      reader.once('line', resolve)
      reader.once('SIGINT', () => reject(new Failure('', exitCodes.interrupted)))
      reader.once('close', () => reject(usageFailure('no token was given')))
    })
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}
