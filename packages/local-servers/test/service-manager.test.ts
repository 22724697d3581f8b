import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serviceManagerOf } from '../src/process/service-manager.js'

const isHere = existsSync('/usr/bin/systemd-notify') && existsSync('/usr/bin/perl')
if (!isHere) console.error('SKIPPED: messages to systemd are not tested, because systemd or perl is missing')

/** A program that receives datagrams, as systemd does, and prints each. */
const receiver =
  'use Socket; $| = 1; socket(S, PF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])); print "listening\\n"; ' +
  'while (defined recv(S, $b, 4096, 0)) { print "$b\\n" }'

it.runIf(isHere)('reports to systemd that it is ready, works, and stops', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-notify-'))
  const socket = join(folder, 'notify')
  const systemd = spawn('/usr/bin/perl', ['-e', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  let heard = ''
  systemd.stdout.on('data', (bytes: Buffer) => {
    heard += bytes
  })
  try {
    await expect.poll(() => heard).toContain('listening')
    const problems: string[] = []
    const env = { PATH: '/usr/bin', NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' }
    const manager = serviceManagerOf(env, (line) => problems.push(line))
    expect(heard).not.toContain('READY')
    manager.ready()
    await expect.poll(() => heard.match(/^WATCHDOG=1$/gm)?.length).toBeGreaterThanOrEqual(2)
    await expect.poll(() => heard.match(/^READY=1$/gm)).toHaveLength(1)
    manager.stopping()
    await expect.poll(() => heard).toContain('STOPPING=1')
    expect(problems).toEqual([])
  } finally {
    systemd.kill()
    rmSync(folder, { recursive: true })
  }
})

it('reports once when systemd cannot be reached, and nothing without systemd', async () => {
  const problems: string[] = []
  const notice = (line: string) => problems.push(line)
  const manager = serviceManagerOf({ PATH: '/nowhere', NOTIFY_SOCKET: '/nowhere/notify' }, notice)
  manager.ready()
  manager.stopping()
  await expect
    .poll(() => problems)
    .toEqual([expect.stringMatching(/^systemd cannot be told .*systemd-notify/)])
  serviceManagerOf({ PATH: '/nowhere' }, notice).ready()
  expect(problems).toHaveLength(1)
})
