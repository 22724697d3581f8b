import { scopes } from '@switchyard/domain/access'
import { type Command, Option } from 'commander'
import { type Api, dataOf, type Schemas } from './api.js'
import { exitCodes, Failure, usageFailure } from './failure.js'
import { oneLine } from './output.js'
import { examples, say, sessionOf } from './session.js'

type Scope = Schemas['PostUsersByIdPersonalAccessTokensBody']['scopes'][number]
type ProjectScope = Schemas['PostProjectsByIdAccessTokensBody']['scopes'][number]

const roles = { guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const

interface TokenOptions {
  scope: string[]
  expires?: string
  description?: string
  project?: string
  role: keyof typeof roles
  user?: string
  tenant?: string[]
}

export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('Make tokens')
  token
    .command('create')
    .argument('<name>', 'by which it is found again')
    .description('Make a token for a project, or, as an administrator, for a user')
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(scopes).makeOptionMandatory())
    .option('--expires <day>', 'its last day, like 2027-01-31')
    .option('--description <text>', 'what it is for')
    .option('-p, --project <project>', 'the only project that it is for; maintainers make these')
    .addOption(new Option('--role <role>', 'in the project').choices(Object.keys(roles)).default('developer'))
    .option('--user <username>', 'whose it is; else your own')
    .option('--tenant <tenant...>', 'the only tenants of sagas that it may name')
    .addHelpText(
      'after',
      `\nThe secret stands alone on standard output, and is never shown again.\n${examples(
        'token create ci --scope api --project ada/engine --expires 2027-01-31',
        'token create reporter --scope saga_report --user booking --tenant eu > token',
      )}`,
    )
    .action(create)
}

async function create(name: string, options: TokenOptions, command: Command) {
  const { api, show } = sessionOf(command)
  const { scope, expires: expires_at, description, project } = options
  const given = { name, description, expires_at }
  const made = project
    ? await makeForProject(
        api,
        project,
        { ...given, scopes: scope as ProjectScope[], access_level: roles[options.role] },
        options,
      )
    : await makeForUser(api, options.user, { ...given, scopes: scope as Scope[], tenants: options.tenant })
  show(made, made.token)
  say(`✓ token "${oneLine(made.name)}" until ${made.expires_at ?? 'it is revoked'}`)
}

async function makeForProject(
  api: Api,
  id: string,
  body: Schemas['PostProjectsByIdAccessTokensBody'],
  { user, tenant }: TokenOptions,
) {
  if (user || tenant) throw usageFailure('a token of a project has no --user and no --tenant')
  return dataOf(api.POST('/projects/{id}/access_tokens', { params: { path: { id } }, body }))
}

async function makeForUser(
  api: Api,
  username: string | undefined,
  body: Schemas['PostUsersByIdPersonalAccessTokensBody'],
) {
  const { id } = username === undefined ? await dataOf(api.GET('/user')) : await findUser(api, username)
  try {
    return await dataOf(api.POST('/users/{id}/personal_access_tokens', { params: { path: { id } }, body }))
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== exitCodes.forbidden) throw error
    throw new Failure(
      'only administrators make tokens of users here: make your own in the console, or one for a --project',
      exitCodes.forbidden,
    )
  }
}

async function findUser(api: Api, username: string) {
  const [user] = await dataOf(api.GET('/users', { params: { query: { username } } }))
  if (!user) throw new Failure(`there is no user ${username}`, exitCodes.notFound)
  return user
}
