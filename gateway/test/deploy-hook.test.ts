import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { gatewayFolder } from './support/gateway.js'

const hook = join(gatewayFolder, 'tls/deploy-hook.sh')
const isRoot = process.getuid?.() === 0
const owner = isRoot ? 101 : (process.getuid?.() ?? 0)

let folder: string
let lineage: string

/** A folder such as certbot makes: links into an archive whose key only its owner reads. */
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

it('a renewal of certbot puts files that the gateway alone can read into its folder, and has it load them', async () => {
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

it('a folder without a key changes nothing and loads nothing', async () => {
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
