import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { configSchema as backupSchema } from '../../../packages/backup/src/data-locations.js'
import { isSecretField, loadConfig } from '../../../packages/config/src/index.js'
import { configSchema as migrationSchema } from '../../../packages/db/src/migrations/config.js'
import { settingsSchema } from '../../../packages/local-servers/src/start/settings.js'
import { repository } from './support/build-stages.js'
import { readCompose, readRepositoryFile } from './support/compose.js'
import { type ConfigSchema, configSchemaOf, serviceNames } from './support/service-configs.js'

// A service's schema imports much of the service, which is slow on a busy machine.
vi.setConfig({ testTimeout: 30_000 })

const schemas = new Map<string, ConfigSchema>([
  ['backup', backupSchema],
  ['migrate', migrationSchema],
])
for (const name of serviceNames) schemas.set(name, await configSchemaOf(name))
const processes = [...schemas]

describe('the reference in docs/configuration.md', () => {
  const reference = readRepositoryFile('docs/configuration.md')

  /** Each item of the lists: name, facts (default, unit, `secret`) and meaning. */
  const items = [...reference.replaceAll('\n  ', ' ').matchAll(/^- `([A-Z_]+)` \((.+?)\): (.+)$/gm)]

  it.each(processes)('describes every variable that %s reads, and marks the secrets', (_name, { shape }) => {
    for (const [name, field] of Object.entries(shape)) {
      const found = items
        .filter(([, variable]) => variable === name)
        .map(([, , facts, meaning]) => [facts?.split(', ').includes('secret'), meaning])
      expect(found, name).toContainEqual([
        isSecretField(field),
        (field as { description?: string }).description,
      ])
    }
  })

  /**
   * Files that read the environment themselves, with the reason. Processes read it by a schema, which the
   * reference shows.
   */
  const readers = new Map([
    ['packages/backup/src/index.ts', 'by its schema'],
    ['packages/cli/src/session.ts', 'the address and the token of a pipeline'],
    ['packages/db/src/migrations/migrate.ts', 'by its schema'],
    ['packages/local-servers/src/start/run-start.ts', 'by its schema'],
    ['packages/service-kit/src/lifecycle/run-service.ts', "by the service's schema"],
    ['services/saga-reporter/src/rebuild/main.ts', 'by its schema'],
    ['packages/git-storage/src/processes/git-process.ts', 'PATH, to find git'],
    ['packages/git-storage/src/processes/program-starter.ts', 'PATH, to find git'],
    ['packages/local-servers/src/tools/find-on-path.ts', 'PATH, to find programs'],
    ['packages/local-servers/src/tools/tools-folder.ts', 'where programs are kept'],
    ['packages/local-servers/src/with-infra.ts', 'what tests inherit'],
    ['packages/cli/src/session.ts', 'the variables of docs/command-line.md'],
  ])

  it('is complete, because no other source reads the environment', () => {
    const { stdout } = execaSync('git', ['ls-files', 'packages/*/src/*.ts', 'services/*/src/*.ts'], {
      cwd: repository,
    })
    const files = stdout.split('\n').filter((file) => !file.endsWith('.test.ts') && !isTestSupport(file))
    const reading = files.filter((file) =>
      /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(readRepositoryFile(file)),
    )
    expect(reading.sort()).toEqual([...readers.keys()].sort())
    const bySchema = [...readers].filter(([, reason]) => reason.endsWith('schema')).map(([file]) => file)
    for (const file of bySchema)
      expect(readRepositoryFile(file).match(/\bprocess\.env\b/g), file).toHaveLength(1)
  })

  const isTestSupport = (file: string) => file.startsWith('packages/testing/')
})

describe('the names of files of secrets', () => {
  it.each(processes)('are free in the schema of %s', (_name, { shape }) => {
    const secrets = Object.keys(shape).filter((name) => isSecretField(shape[name] as never))
    for (const name of secrets) expect(shape).not.toHaveProperty(`${name}_FILE`)
  })
})

describe('docker-compose.yml', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-secrets-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  execaSync('node', [join(repository, 'ops/docker/make-env.mjs'), folder])
  const compose = readCompose({ SECRETS_FOLDER: join(folder, 'secrets') })
  /** Variables that the images set themselves. */
  const ofImages = {
    HOST: '0.0.0.0',
    PORT: '8080',
    SWITCHYARD_STORAGE_ROOT: '/var/lib/switchyard/repositories',
  }

  /** Returns the environment of a container, with the paths of secrets on this machine. */
  function environmentOf(name: string): Record<string, string> {
    const { environment = {}, secrets = [] } = compose.services[name] ?? {}
    const mounted = new Map(
      secrets.map((secret) => [`/run/secrets/${secret}`, compose.secrets[secret]?.file]),
    )
    return Object.fromEntries(
      Object.entries(environment).flatMap(([variable, value]) =>
        value === null ? [] : [[variable, mounted.get(value) ?? value]],
      ),
    )
  }

  it.each(processes)(
    'gives %s an environment with which it starts, and no variable that it does not read',
    (name, schema) => {
      const environment = environmentOf(name)
      expect(() => loadConfig(name, schema, { ...ofImages, ...environment })).not.toThrow()
      const readable = Object.entries(schema.shape).flatMap(([variable, field]) =>
        isSecretField(field) ? [`${variable}_FILE`] : [variable],
      )
      expect(readable).toEqual(expect.arrayContaining(Object.keys(compose.services[name]?.environment ?? {})))
    },
  )

  /** Variables that the file does not pass on, with the reason. */
  const unreached = new Map([
    ['HOST', 'set by the image'],
    ['PORT', 'set by the image; `PORT` in `.env` is the port of the gateway'],
    ['SWITCHYARD_STORAGE_ROOT', 'set by the image'],
    ['SWITCHYARD_REVISION', 'set by the image'],
    ['SWITCHYARD_REVISION_TIME', 'set by the image'],
    ['SWITCHYARD_ROOT_TOKEN_KEPT_IN', 'the token is a secret in a file'],
    ['SWITCHYARD_DATA', 'of npm start'],
    ['POSTGRES_PASSWORD_MONITORING', 'docker-compose.monitoring.yml hands it on'],
  ])

  it.each(processes)('can set every variable of %s: by `.env`, or as a secret in a file', (name, schema) => {
    const environment = compose.services[name]?.environment ?? {}
    const nameOf = (variable: string) =>
      isSecretField(schema.shape[variable] as never) ? `${variable}_FILE` : variable
    const missing = Object.keys(schema.shape).filter((variable) => !(nameOf(variable) in environment))
    expect(missing.filter((variable) => !unreached.has(variable))).toEqual([])
  })

  const wrong = '\u0001 =?'
  /** Settings with any text: names of hosts, files, folders and groups, passwords and tokens. */
  const anyText = [
    'HOST',
    'GRPC_HOST',
    'SWITCHYARD_DATA',
    'SWITCHYARD_TOOLS',
    'SWITCHYARD_STORAGE_ROOT',
    'WORKER_TAG',
    'SAGA_TLS_CERT_FILE',
    'SAGA_TLS_KEY_FILE',
    'SAGA_TLS_CLIENT_CA_FILE',
    'OIDC_CLIENT_SECRET',
    'OIDC_ADMIN_GROUPS',
    'OIDC_ALLOWED_GROUPS',
    'RESTIC_REPOSITORY',
    'RESTIC_PASSWORD',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_DEFAULT_REGION',
  ]
  /** Secrets that npm start passes on, and that the receiving services check. */
  const handedOn = ['SWITCHYARD_ROOT_TOKEN', 'WEBHOOK_SECRET_KEYS']
  const takesAnyText = (name: string, variable: string) =>
    anyText.includes(variable) ||
    variable.startsWith('POSTGRES_PASSWORD_') ||
    (name === 'npm start' && handedOn.includes(variable))

  const withStart: [string, ConfigSchema][] = [...processes, ['npm start', settingsSchema]]
  it.each(withStart)('makes %s name each wrong setting, in one sentence without a secret', (name, schema) => {
    const environment = environmentOf(name)
    const refusalOf = (variable: string) => {
      const { [`${variable}_FILE`]: _file, ...others } = environment
      try {
        loadConfig(name, schema, { ...ofImages, ...others, [variable]: wrong })
        return 'taken'
      } catch (error) {
        return (error as Error).message
      }
    }
    for (const variable of Object.keys(schema.shape).filter((each) => !takesAnyText(name, each))) {
      const [first, ...problems] = refusalOf(variable).split('\n')
      expect(first, variable).toBe(`${name} cannot start: its environment does not fit.`)
      expect(problems, variable).toContainEqual(expect.stringMatching(`^  ${variable}(?:\\.\\w+)*: \\S`))
      // A setting that requires others reports them as well.
      const others = problems.filter((problem) => !problem.startsWith(`  ${variable}`))
      expect(others, variable).toEqual(others.filter((problem) => problem.includes(' is required: ')))
      if (isSecretField(schema.shape[variable] as never))
        expect(problems.join(), variable).not.toContain(wrong)
    }
  })

  it.each(processes)('mounts into %s exactly the secrets that it reads', (name) => {
    const { environment = {}, secrets = [] } = compose.services[name] ?? {}
    const read = Object.values(environment).filter((value) => value?.startsWith('/run/secrets/'))
    expect(read.toSorted()).toEqual(secrets.map((secret) => `/run/secrets/${secret}`).toSorted())
  })

  it('does not start a service whose secret is missing, and names the variable', () => {
    const broken = {
      ...ofImages,
      ...environmentOf('worker'),
      REDIS_URL_FILE: '/run/secrets/redis_url_worker',
    }
    expect(() => loadConfig('worker', schemas.get('worker') as ConfigSchema, broken)).toThrow(
      'REDIS_URL_FILE: the file cannot be read (ENOENT)',
    )
  })

  it('has the same password in two files: of the role, and in the URL of its service', () => {
    const roleFile = join(folder, 'secrets', 'postgres_password_worker')
    const urlFile = join(folder, 'secrets', 'database_url_worker')
    rmSync(roleFile)
    writeFileSync(roleFile, 'p@ss/word of mine\n')
    execaSync('node', [join(repository, 'ops/docker/make-env.mjs'), folder])
    expect(decodeURIComponent(new URL(readFileSync(urlFile, 'utf8').trim()).password)).toBe(
      'p@ss/word of mine',
    )
  })
})
