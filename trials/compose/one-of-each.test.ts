import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Compose, readCompose } from '../../ops/docker/test/support/compose.js'
import { serviceNames } from '../../ops/docker/test/support/service-configs.js'
import { type Api, apiOf } from '../support/api.js'
import { grpcAddress, reportStart, url } from './calls.js'
import { type Engine, startEngine } from './engine.js'
import { type Installation, makeInstallation } from './installation.js'
import { memoryOf, writeMemory } from './memory.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-compose-'))
const described: Compose = readCompose({ SECRETS_FOLDER: './secrets' })
const running = [...serviceNames, 'gateway', 'postgres', 'redis']
let engine: Engine
let installed: Installation
let api: Api

beforeAll(async () => {
  engine = await startEngine()
  installed = await makeInstallation(engine, join(folder, 'switchyard'))
  api = apiOf(url, installed.rootToken)
  await installed.up()
})
afterAll(async () => {
  await installed?.remove()
  await engine?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const readiness = async (service: string) =>
  (await fetch(`${url}/-/${service}/readiness`).catch(() => ({ status: 0 }))).status
const expectReady = () =>
  Promise.all(
    serviceNames.map((name) =>
      expect.poll(() => readiness(name), { timeout: 120_000, message: name }).toBe(200),
    ),
  )

interface State {
  Service: string
  State: string
  Health: string
  ExitCode: number
}

/** Returns the state of each container from `docker compose ps`. */
const states = async () =>
  (await installed.compose('ps', '--all', '--format', 'json'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as State)

/** Returns a container's state in a Go format. */
const inspected = (service: string, format: string) =>
  engine.podman('inspect', '--format', format, installed.containerOf(service))

const redisCli = (commands: string) =>
  engine.podman(
    'exec',
    installed.containerOf('redis'),
    'sh',
    '-c',
    `export REDISCLI_AUTH="$(cat /run/secrets/redis_password)"; ${commands}`,
  )

describe('docker compose up', () => {
  it('has every container ready after the migration has ended', async () => {
    const found = new Map((await states()).map((state) => [state.Service, state]))
    expect([...found.keys()].sort()).toEqual([...running, 'migrate'].sort())
    expect(found.get('migrate')).toMatchObject({ State: 'exited', ExitCode: 0 })
    for (const name of running)
      expect(found.get(name), name).toMatchObject({ State: 'running', Health: 'healthy' })
    await expectReady()
  })

  it('takes memory at rest, which is written into docs/operations.md', async () => {
    // Waits until the memory that only the start needs is released.
    await delay(120_000)
    const figures = new Map<string, number>()
    for (const name of running) figures.set(name, await memoryOf(installed, name))
    expect([...figures.values()].filter((figure) => !(figure > 1))).toEqual([])
    writeMemory(figures)
  })

  it('serves pushes, lists of commits, banners and queues through the gateway', async () => {
    await api('POST', '/projects', { name: 'demo' })
    const clone = join(folder, 'clone')
    const git = (...args: string[]) => execa('git', ['-C', clone, ...args])
    const remote = `http://root:${installed.rootToken}@127.0.0.1:8080/root/demo.git`
    await execa('git', ['clone', '--quiet', remote, clone])
    await execa('sh', ['-c', `echo Hello > '${clone}/hello.txt'`])
    await git('switch', '-q', '-C', 'main')
    await git('add', 'hello.txt')
    await git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-q', '-m', 'Say hello')
    await git('push', '-q', 'origin', 'main')
    const commits = await api<{ title: string }[]>('GET', '/projects/root%2Fdemo/repository/commits')
    expect(commits.map(({ title }) => title)).toEqual(['Say hello'])
    await api('POST', '/broadcast_messages', { message: 'Deploys pause at noon' })
    expect(await api('GET', '/broadcast_messages')).toMatchObject([{ message: 'Deploys pause at noon' }])
    // The push leads to a job of the worker.
    const processed = async () =>
      (await api<{ jobs: { processed: number } }>('GET', '/jobqueue/compound_metrics')).jobs.processed
    await expect.poll(processed, { timeout: 60_000 }).toBeGreaterThan(0)
    const page = await (await fetch(`${url}/console/`)).text()
    expect(page).toContain('<div id="root">')
  })

  it('accepts sagas over gRPC with a token, and shows them', async () => {
    await expect(reportStart('booking-1', {})).rejects.toMatchObject({ code: 16 })
    expect(await reportStart('booking-1', { token: installed.rootToken })).toMatchObject({ isSuccess: true })
    expect(await api('GET', '/sagas/booking-1')).toMatchObject({ saga_id: 'booking-1' })
  })

  it('publishes only the two ports of the gateway, on loopback', async () => {
    for (const name of running) {
      const ports = JSON.parse(await inspected(name, '{{json .HostConfig.PortBindings}}'))
      const published = Object.values(
        ports as Record<string, { HostIp: string; HostPort: string }[] | null>,
      ).flatMap((bindings) => bindings ?? [])
      const expected = name === 'gateway' ? ['127.0.0.1:50051', '127.0.0.1:8080'] : []
      expect(published.map(({ HostIp, HostPort }) => `${HostIp}:${HostPort}`).sort(), name).toEqual(expected)
    }
    expect(grpcAddress).toContain('50051')
  })
})

describe('a container', () => {
  const bytes = (size: string) => Number.parseInt(size, 10) * 1024 ** ('kmg'.indexOf(size.slice(-1)) + 1)

  /** Returns the kernel's limits of a container, with either version of control groups. */
  async function limitsOf(service: string) {
    const script = `cd /sys/fs/cgroup
      if [ -e memory.max ]; then cat memory.max pids.max; tr ' ' '\\n' < cpu.max
      else cat memory/memory.limit_in_bytes pids/pids.max cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us; fi`
    const [memory, pids, quota = 0, period = 1] = (await installed.exec(service, 'sh', '-c', script))
      .split('\n')
      .map(Number)
    return { memory, pids, cpus: quota / period }
  }

  it.each(running)('of %s has its limits', async (name) => {
    const { limits } = described.services[name]?.deploy.resources ?? {
      limits: { cpus: '', memory: '', pids: 0 },
    }
    expect(await limitsOf(name)).toEqual({
      memory: bytes(limits.memory),
      pids: limits.pids,
      cpus: Number(limits.cpus),
    })
  })

  it.each(running)('of %s has no capabilities, and a read-only file system', async (name) => {
    const status = await installed.exec(name, 'cat', '/proc/1/status')
    const field = (key: string) => new RegExp(`^${key}:\\s+(\\S+)`, 'm').exec(status)?.[1]
    expect(Number.parseInt(field('CapEff') ?? '', 16)).toBe(0)
    expect(Number.parseInt(field('CapBnd') ?? '', 16)).toBe(0)
    expect(field('NoNewPrivs')).toBe('1')
    expect(Number(field('Uid'))).toBeGreaterThan(0)
    const write = installed.exec(name, 'touch', '/usr/local/bin/something', '/something')
    await expect(write).rejects.toThrow(/Read-only file system/)
  })

  it.each(running)('of %s reaches the outside only when it needs to', async (name) => {
    // Destination and mask of a default route are zero.
    const hasRoute = /^\S+\s+00000000\s/m.test(await installed.exec(name, 'cat', '/proc/net/route'))
    expect(hasRoute).toBe(['gateway', 'jobqueue-metrics', 'worker'].includes(name))
  })

  it('that exceeds its memory loses the process, and does not affect others', async () => {
    const hoard = 'const held = []; for (;;) held.push(Buffer.alloc(1 << 22, 1))'
    await expect(installed.exec('console', 'node', '-e', hoard)).rejects.toThrow()
    await expectReady()
  })

  it.each(running)('of %s can be restarted, and everything is ready again', async (name) => {
    await installed.compose('restart', name)
    await expectReady()
    expect(await api('GET', '/projects/root%2Fdemo')).toMatchObject({ name: 'demo' })
    expect(await api('GET', '/sagas/booking-1')).toMatchObject({ saga_id: 'booking-1' })
  })

  it.each(running)('of %s comes back when its process is killed', async (name) => {
    const pidOf = () => inspected(name, '{{.State.Pid}}')
    const pid = Number(await pidOf())
    process.kill(pid, 'SIGKILL')
    await expect.poll(pidOf, { timeout: 60_000 }).toMatch(new RegExp(`^(?!(0|${pid})$)`))
    await expectReady()
  })
})

describe('an upgrade of one service', () => {
  const ids = async () =>
    new Map(await Promise.all(running.map(async (name) => [name, await inspected(name, '{{.Id}}')] as const)))
  const version = () => apiOf(url, installed.rootToken)<{ revision: string }>('GET', '/version')

  it('replaces only that container, keeps the stored data, and can be reverted', async () => {
    const revision = '0123456789abcdef0123456789abcdef01234567'
    const next = join(folder, 'next')
    mkdirSync(next)
    const text = `FROM localhost/switchyard/git-api\nENV SWITCHYARD_REVISION=${revision}\n`
    writeFileSync(join(next, 'Dockerfile'), text)
    const tag = ['--tag', 'localhost/switchyard/git-api:next']
    await engine.podman('build', '--pull=never', '--format', 'docker', ...tag, next)
    const [before, { revision: revisionBefore }] = [await ids(), await version()]
    const replace = (version: string) =>
      installed.composeWith(
        { SWITCHYARD_VERSION: version },
        'up',
        '--detach',
        '--no-build',
        '--no-deps',
        '--wait',
        'git-api',
      )
    await replace('next')
    await expectReady()
    expect((await version()).revision).toBe(revision.slice(0, 11))
    const after = await ids()
    expect(running.filter((name) => after.get(name) !== before.get(name))).toEqual(['git-api'])
    expect(await api('GET', '/projects/root%2Fdemo')).toMatchObject({ name: 'demo' })

    await replace('latest')
    await expectReady()
    expect((await version()).revision).toBe(revisionBefore)
  })
})

describe('a full Redis', () => {
  it('refuses writes, is not killed, and has room to rewrite its file', async () => {
    const started = await inspected('redis', '{{.State.StartedAt}} {{.State.OOMKilled}}')
    const fill = 'seq 1 80 | sed "s/.*/SETRANGE filler:& 10485759 x/" | redis-cli'
    const answers = await redisCli(fill)
    expect(answers).toContain('OOM command not allowed')
    await redisCli('redis-cli bgrewriteaof')
    await expect
      .poll(() => redisCli('redis-cli info persistence'), { timeout: 120_000 })
      .toMatch(/aof_rewrite_in_progress:0[\s\S]*aof_last_bgrewrite_status:ok/)
    expect(await redisCli('redis-cli ping')).toBe('PONG')
    expect(await inspected('redis', '{{.State.StartedAt}} {{.State.OOMKilled}}')).toBe(started)
    // Requests that do not need Redis continue.
    const actions = [{ action: 'create', file_path: 'full.txt', content: 'Redis is full' }]
    const commit = { branch: 'main', commit_message: 'While Redis is full', actions }
    await api('POST', '/projects/root%2Fdemo/repository/commits', commit)
    await redisCli('redis-cli --scan --pattern "filler:*" | xargs redis-cli del')
    await expectReady()
  })
})

describe('the backup', () => {
  const titles = async () =>
    (await api<{ title: string }[]>('GET', '/projects/root%2Fdemo/repository/commits')).map(
      ({ title }) => title,
    )

  it('is made while everything runs, and shows its time', async () => {
    expect((await installed.tryCompose('run', '--rm', 'backup')).all).toContain('1 repositories')
    const metrics = await engine.podman(
      'volume',
      'inspect',
      '--format',
      '{{.Mountpoint}}',
      'switchyard_backup-metrics',
    )
    expect(readFileSync(join(metrics, 'switchyard.prom'), 'utf8')).toMatch(
      /^switchyard_backup_cut_timestamp_seconds \d/m,
    )
  })

  it('is restored into empty volumes as docs/backup.md says', async () => {
    const documentation = readFileSync('docs/backup.md', 'utf8')
    const [, restoring = ''] =
      /^ {4}docker compose (run --rm backup .* restore .+)$/m.exec(documentation) ?? []
    const before = await titles()
    await installed.compose('--profile', 'backup', 'down')
    for (const name of ['postgres', 'redis', 'repositories'])
      await engine.podman('volume', 'rm', `switchyard_${name}`)
    expect((await installed.tryCompose(...restoring.split(' '))).all).toContain('restored everything up to')
    await installed.up()
    await expectReady()
    expect(await titles()).toEqual(before)
    expect(await api('GET', '/sagas/booking-1')).toMatchObject({ saga_id: 'booking-1' })
  })
})

it('docker compose down keeps volumes', async () => {
  await installed.compose('--profile', 'backup', 'down')
  expect(await engine.podman('ps', '--all', '--quiet')).toBe('')
  const networks = (await engine.podman('network', 'ls', '--format', '{{.Name}}')).split('\n')
  expect(networks.filter((name) => name.startsWith('switchyard'))).toEqual([])
  const volumes = (await engine.podman('volume', 'ls', '--format', '{{.Name}}')).split('\n')
  expect(volumes.sort()).toEqual(
    Object.keys(described.volumes)
      .map((name) => `switchyard_${name}`)
      .sort(),
  )
})
