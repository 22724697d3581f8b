import { execFileSync } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { findRecentNginx } from '@switchyard/local-servers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gatewayFolder, gatewayTools, startGateway } from './support/gateway.js'

const hook = join(gatewayFolder, 'tls/deploy-hook.sh')
const isRoot = process.getuid?.() === 0
const owner = isRoot ? 101 : (process.getuid?.() ?? 0)

let folder: string
let lineage: string

/** Creates a folder as certbot does: links into an archive whose key only its owner can read. */
async function renew(version: number): Promise<void> {
  for (const name of ['fullchain', 'privkey']) {
    const kept = join(folder, 'archive', `${name}${version}.pem`)
    await writeFile(kept, `${name} ${version}\n`, { mode: 0o600 })
    await rm(join(lineage, `${name}.pem`), { force: true })
    await symlink(join('..', '..', 'archive', `${name}${version}.pem`), join(lineage, `${name}.pem`))
  }
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchyard-certificates-'))
  lineage = join(folder, 'live', 'switchyard.example.com')
  await mkdir(join(folder, 'archive'), { recursive: true })
  await mkdir(lineage, { recursive: true })
  await chmod(join(folder, 'archive'), 0o700)
  await renew(1)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const runHook = (env: Record<string, string>, args: string[] = []) =>
  execFileSync(hook, args, {
    env: { PATH: process.env.PATH, TLS_OWNER: String(owner), ...env },
    stdio: 'pipe',
  })

it('a renewal by certbot copies files that only the gateway can read into its folder, and reloads them', async () => {
  const target = join(folder, 'a copy')
  const reloads = join(folder, 'reloads')
  const env = { TLS_FOLDER: target, RENEWED_LINEAGE: lineage, RELOAD: `echo reloaded >> '${reloads}'` }
  runHook(env)
  await renew(2)
  runHook(env)
  for (const name of ['fullchain', 'privkey']) {
    const file = join(target, `${name}.pem`)
    expect(await readFile(file, 'utf8')).toBe(`${name} 2\n`)
    const { uid, mode } = await stat(file)
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: owner, mode: 0o400 })
  }
  expect((await stat(target)).mode & 0o005).toBe(0o005)
  expect(await readFile(reloads, 'utf8')).toBe('reloaded\nreloaded\n')
})

it('without a command of its own it asks Docker Compose of the checkout to reload', async () => {
  const programs = join(folder, 'programs')
  const asked = join(folder, 'asked')
  await mkdir(programs)
  await writeFile(join(programs, 'docker'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${asked}'\n`, { mode: 0o700 })
  runHook({
    PATH: `${programs}:${process.env.PATH}`,
    TLS_FOLDER: join(folder, 'copy'),
    RENEWED_LINEAGE: lineage,
  })
  const [, option, checkout = '', ...command] = (await readFile(asked, 'utf8')).trim().split('\n')
  expect([option, ...command]).toEqual(['--project-directory', 'kill', '--signal', 'HUP', 'gateway'])
  await expect(stat(join(checkout, 'docker-compose.yml'))).resolves.toMatchObject({
    size: expect.any(Number),
  })
})

it('a folder without a key changes nothing and reloads nothing', async () => {
  const target = join(folder, 'target')
  const env = { TLS_FOLDER: target, RELOAD: `touch '${join(folder, 'reloaded')}'` }
  runHook(env, [lineage])
  await renew(2)
  await rm(join(lineage, 'privkey.pem'))
  await rm(join(folder, 'reloaded'))
  expect(() => runHook(env, [lineage])).toThrow('privkey.pem')
  expect(await readFile(join(target, 'fullchain.pem'), 'utf8')).toBe('fullchain 1\n')
  await expect(stat(join(folder, 'reloaded'))).rejects.toThrow('ENOENT')
})

const program = await findRecentNginx(gatewayTools, console.error)

describe.skipIf(!program)('nginx with the listen files as shipped, as the user of the container', () => {
  const shipped = async (name: string, target: string) =>
    (await readFile(join(gatewayFolder, 'tls', name), 'utf8')).replaceAll('/etc/gateway/tls', target)

  /** Renews a certificate as certbot does. */
  async function renewFor(name: string, version: number): Promise<void> {
    await renew(version)
    const [chain, key] = ['fullchain', 'privkey'].map((part) =>
      join(folder, 'archive', `${part}${version}.pem`),
    )
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    const files = ['-keyout', key ?? '', '-out', chain ?? '']
    execFileSync('openssl', ['req', '-x509', ...kind, '-subj', `/CN=${name}`, ...files], { stdio: 'pipe' })
  }

  const shownAt = (port: number) =>
    new Promise<unknown>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
      socket.once('secureConnect', () => {
        resolve(socket.getPeerCertificate().subject.CN)
        socket.destroy()
      })
      socket.once('error', reject)
    })

  /**
   * Starts nginx as `owner`. That user owns its folder, which follows `-p`, and the file that nginx opens
   * again as /dev/stdout.
   */
  async function asOwner(nginx: string): Promise<string> {
    const script = join(folder, 'nginx')
    const copy = isRoot ? join(folder, 'program') : nginx
    if (isRoot) await cp(join(nginx, '..'), copy, { recursive: true })
    const start = `exec setpriv --reuid ${owner} --regid ${owner} --clear-groups '${join(copy, 'recent-nginx')}' "$@"`
    const lines = ['#!/bin/sh', `chown -R ${owner} "$2"`, start]
    await writeFile(script, isRoot ? lines.join('\n') : `#!/bin/sh\nexec '${nginx}' "$@"`, { mode: 0o755 })
    return script
  }

  it('serves a new certificate of certbot at both ports after the hook has run', async () => {
    await chmod(folder, 0o755)
    const target = join(folder, 'certificates')
    const env = { TLS_FOLDER: target, RENEWED_LINEAGE: lineage }
    await renewFor('first', 1)
    runHook({ ...env, RELOAD: 'true' })
    const gateway = await startGateway(
      {},
      {
        program: await asOwner(program ?? ''),
        http: await shipped('listen-http.conf', target),
        grpc: await shipped('listen-grpc.conf', target),
      },
    )
    const ports = [gateway.httpPort, Number(gateway.grpcAddress.split(':')[1])]
    try {
      expect(await Promise.all(ports.map(shownAt))).toEqual(['first', 'first'])
      await renewFor('second', 2)
      runHook({ ...env, RELOAD: `kill -HUP ${gateway.pid}` })
      for (const port of ports) await expect.poll(() => shownAt(port)).toBe('second')
    } finally {
      await gateway.stop()
    }
  })
})
